import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const page = fileURLToPath(new URL('../../docs/scaling.md', import.meta.url))

/** The block of docs/scaling.md with this info string, such as `haproxy`. Throws unless there is exactly one. */
export function scalingBlock(info: string): string {
  const found = [...readFileSync(page, 'utf8').matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)].filter(
    ([, has]) => has === info,
  )
  if (found.length !== 1) throw new Error(`docs/scaling.md: ${found.length} blocks \`${info}\`, wanted 1`)
  return found[0]?.[2] ?? ''
}

/** `name = value` lines of a text, comments left out. */
export function settingsIn(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/^([a-z_]+) = (.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
}
