/** An item knows its place in the one list that holds it; -1 outside a list. */
export interface Listed {
  listIndex: number
}

/**
 * An unordered list; each request owns one element. A `Set` would cost the garbage collector more than the requests: a `Set`
 * that grows links its old table to the new one, so a dead table in the old generation keeps all later tables and their
 * requests until the next full collection.
 */
export interface UnorderedList<T extends Listed> {
  readonly items: readonly T[]
  add(item: T): void
  /** Idempotent. */
  delete(item: T): void
}

export function createUnorderedList<T extends Listed>(): UnorderedList<T> {
  const items: T[] = []
  return {
    items,
    add(item) {
      item.listIndex = items.push(item) - 1
    },
    delete(item) {
      const { listIndex } = item
      if (listIndex < 0) return
      item.listIndex = -1
      const last = items.pop()
      if (last === undefined || last === item) return
      items[listIndex] = last
      last.listIndex = listIndex
    },
  }
}
