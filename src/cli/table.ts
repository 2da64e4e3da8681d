/** Rows under a head, in columns padded with spaces: readable, and easy to split with `awk`. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Prints a list as a table or as JSON. In the table, lists in a cell are joined by commas, and null is an empty cell. */
export function printRows<K extends string>(
  head: readonly K[],
  rows: readonly Readonly<Record<K, string | number | null | readonly string[]>>[],
  json: true | undefined,
): void {
  const text =
    json === true
      ? JSON.stringify(rows, null, 2)
      : table(
          head,
          rows.map((row) => head.map((name) => String(row[name] ?? ''))),
        )
  process.stdout.write(`${text}\n`)
}
