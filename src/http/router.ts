/** A matched path: the row of each method, and the values of the path's parameters. */
export interface PathMatch<T> {
  readonly byMethod: ReadonlyMap<string, Target<T>>
  /** Decoded values of the parameter segments, in path order. */
  readonly values: readonly string[]
}

/** One row, and its names for the path's parameters. */
export interface Target<T> {
  readonly row: T
  readonly paramNames: readonly string[]
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>
  param: Node<T> | null
  readonly byMethod: Map<string, Target<T>>
}

export interface Router<T> {
  /**
   * Adds a row under a path template such as `/users/{userRef}`; throws for a second row of the same method and shape. A
   * template that ends with a slash also matches without it.
   */
  add(method: string, template: string, row: T): void
  /** Adds a row for this form of the path only. */
  addExact(method: string, template: string, row: T): void
  /** Matches decoded segments; null if no row has such a path. */
  find(segments: readonly string[]): PathMatch<T> | null
}

/**
 * Routes by a tree of segments: one Map lookup a segment, no regular expression. A literal has precedence over a parameter; a
 * parameter matches any segment but the empty one.
 */
export function makeRouter<T>(): Router<T> {
  const root = emptyNode<T>()
  const router: Router<T> = {
    add(method, template, row) {
      if (template.length > 1 && template.endsWith('/')) router.addExact(method, template.slice(0, -1), row)
      router.addExact(method, template, row)
    },
    addExact(method, template, row) {
      const paramNames: string[] = []
      let node = root
      for (const segment of template.slice(1).split('/')) {
        if (segment.startsWith('{') && segment.endsWith('}')) {
          paramNames.push(segment.slice(1, -1))
          node.param ??= emptyNode()
          node = node.param
        } else {
          const next = node.literals.get(segment) ?? emptyNode<T>()
          node.literals.set(segment, next)
          node = next
        }
      }
      if (node.byMethod.has(method)) throw new Error(`two rows serve ${method.toUpperCase()} ${template}`)
      node.byMethod.set(method, { row, paramNames })
    },
    find: (segments) => walk(root, segments, 0, []),
  }
  return router
}

function walk<T>(node: Node<T>, segments: readonly string[], at: number, values: string[]): PathMatch<T> | null {
  const segment = segments[at]
  if (segment === undefined) return node.byMethod.size > 0 ? { byMethod: node.byMethod, values } : null
  const literal = node.literals.get(segment)
  if (literal !== undefined) {
    const found = walk(literal, segments, at + 1, values)
    if (found !== null) return found
  }
  if (node.param === null || segment === '') return null
  values.push(segment)
  const found = walk(node.param, segments, at + 1, values)
  if (found === null) values.pop()
  return found
}

function emptyNode<T>(): Node<T> {
  return { literals: new Map(), param: null, byMethod: new Map() }
}
