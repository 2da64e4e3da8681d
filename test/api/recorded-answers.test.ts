import { writeFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { coreRoutes } from '../../src/api/core-table.js'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { linkRoutes } from '../../src/api/links-table.js'
import { readTypingPattern } from '../../src/domain/typing-pattern.js'
import { fileTypeOf, refusalsOf } from '../../src/http/docs/route-docs.js'
import type { Route } from '../../src/http/route.js'
import { recordedAnswers, recordedFile } from '../../src/wiring/endpoints.js'
import { documentOf, type TestedApi, validatorOf } from '../harness/contract.js'
import { playStory, shownPattern } from './recorded-story.js'
import { differences, stable } from './recorder.js'

const TABLES: readonly (readonly [TestedApi, readonly Route<never>[]])[] = [
  ['core', coreRoutes],
  ['auth', linkRoutes],
  ['dashboard', dashboardRoutes],
]
const REPLIES = TABLES.flatMap(([api, rows]) =>
  rows.flatMap((row) =>
    Object.entries(row.replies)
      .filter(([, reply]) => fileTypeOf(reply) === null)
      .map(([status]) => ({ api, row, status, name: `${row.method} /${api}${row.path}` })),
  ),
)
const KINDS = [...new Set(TABLES.flatMap(([, rows]) => rows.flatMap((row) => refusalsOf(row).map(({ kind }) => kind))))]

/** One line per answer, so that a change is one line of a diff. */
function fileText(recorded: ReturnType<typeof recordedAnswers>): string {
  const lines = (entries: object) =>
    Object.entries(entries).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  const parts = Object.entries(recorded).map(
    ([name, entries]) => `  ${JSON.stringify(name)}: {\n${lines(entries).join(',\n')}\n  }`,
  )
  return `{\n${parts.join(',\n')}\n}\n`
}

describe('the recorded answers that documents show', { timeout: 120_000 }, () => {
  let today: ReturnType<typeof recordedAnswers>
  beforeAll(async () => {
    const { replies, refusals } = await playStory()
    const ids = new Map<string, string>()
    today = stable({ replies, refusals, bodies: {} }, ids)
    today = { ...today, bodies: { TypingPattern: shownPattern() } }
    if (process.env.RECORD_ANSWERS === 'write') writeFileSync(recordedFile(), fileText(today))
  }, 240_000)

  it('are exactly one of each JSON reply of each route, and one of each kind of refusal', () => {
    const recorded = recordedAnswers()
    const named = Object.entries(recorded.replies).flatMap(([name, replies]) =>
      Object.keys(replies).map((status) => `${name} ${status}`),
    )
    expect(named.sort()).toEqual(REPLIES.map(({ name, status }) => `${name} ${status}`).sort())
    expect(Object.keys(recorded.refusals).sort()).toEqual([...KINDS].sort())
  })

  it('have the shape of the answers of the running service', () => {
    const { replies, refusals } = recordedAnswers()
    expect(differences({ replies, refusals }, { replies: today.replies, refusals: today.refusals })).toEqual([])
  })

  it('match the schemas in the documents', () => {
    const { replies } = recordedAnswers()
    for (const { api, row, name, status } of REPLIES) {
      const validate = validatorOf(api, row, Number(status))
      expect([name, validate?.(replies[name]?.[status]), validate?.errors ?? []]).toEqual([name, true, []])
    }
  })

  it('show a typing pattern that the service accepts', () => {
    const { TypingPattern } = recordedAnswers().bodies
    expect(TypingPattern).toEqual(shownPattern())
    expect(readTypingPattern(Buffer.from(JSON.stringify(TypingPattern)))).toMatchObject({ ok: true, warnings: [] })
  })

  it.each(TABLES)('are part of every JSON response: %s', (api) => {
    const { paths, components } = documentOf(api)
    const without = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        Object.entries(responses as Record<string, { $ref?: string }>).flatMap(([status, response]) => {
          const whole = components.responses?.[response.$ref?.split('/').pop() ?? ''] ?? response
          const json = (whole as { content: Record<string, object> }).content['application/json'] // Sound: OpenAPI requires it.
          return json === undefined || 'example' in json || 'examples' in json ? [] : [`${method} ${path} ${status}`]
        }),
      ),
    )
    expect(without).toEqual([])
  })
})
