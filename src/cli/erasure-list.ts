import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Erasure } from '../storage/erasures.js'

/** A list of erasures as text: one line for each erasure, then a last line with their number and the SHA-256 of the lines before. */
interface ErasureList {
  line(erasure: Erasure): string
  last(): string
}

const Line = z
  .strictObject({
    organization: z.uuid(),
    id: z.uuid(),
    at: z.iso.datetime(),
    of: z.enum(['account', 'member']),
    person: z.string().regex(/^[0-9a-f]{64}$/),
  })
  .transform(({ organization, at, ...rest }) => ({ organizationId: organization, at: Date.parse(at), ...rest }))
const Last = z.strictObject({ erasures: z.int(), sha256: z.string() })

export function newErasureList(): ErasureList {
  const sum = createHash('sha256')
  let count = 0
  return {
    line({ organizationId, id, at, of, person }) {
      const row: z.input<typeof Line> = { organization: organizationId, id, at: new Date(at).toISOString(), of, person }
      const line = JSON.stringify(row)
      sum.update(`${line}\n`)
      count += 1
      return line
    },
    last: () => JSON.stringify({ erasures: count, sha256: sum.digest('hex') } satisfies z.infer<typeof Last>),
  }
}

/** Parses a list; null if the list is incomplete or was changed. */
export function wholeErasureList(text: string): Erasure[] | null {
  const end = text.lastIndexOf('\n', text.length - 2) + 1
  const lines = text.slice(0, end)
  const rows = lines.split('\n').slice(0, -1)
  const last = Last.safeParse(parsed(text.slice(end)))
  const whole =
    last.data?.erasures === rows.length && last.data.sha256 === createHash('sha256').update(lines).digest('hex')
  if (!whole) return null
  const list = z.array(Line).safeParse(rows.map(parsed))
  return list.data ?? null
}

/** Parses JSON; undefined if it is invalid. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
