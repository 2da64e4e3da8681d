import { expect, it } from 'vitest'
import { coreRoutes } from '../../src/api/core-table.js'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { linkRoutes } from '../../src/api/links-table.js'
import { seededRandom } from '../../src/calibration/random.js'
import type { Route } from '../../src/http/route.js'
import { linkTo } from '../harness/enrolled.js'
import { figure, LONG } from '../harness/figure.js'
import { keepAlive } from '../harness/keep-alive.js'
import { sharedService } from '../harness/service.js'
import { randomOn } from '../simulator/scheduler.js'

const BODIES = LONG ? 1_000_000 : 10_000
const CONNECTIONS = 16

const ROWS = Object.entries({ core: coreRoutes, auth: linkRoutes, dashboard: dashboardRoutes }).flatMap(
  ([api, routes]) =>
    (routes as readonly Route<never>[]).filter(({ body }) => body.kind !== 'none').map((row) => [api, row] as const),
)

const KEYS = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', '\u0000', 'a', 'x', '$where'],
  ...['type', 'member_ref', 'user_display_name', 'securityCode', 'kevt', 'k', 'agent', 'version', 'groups', 'tag'],
  ...['action', 'pattern', 'patternId', 'language', 'word', 'id', 'ids', 'date_from', 'date_to', 'windows', 'validity'],
  ...['redirect_uri', 'name', 'recipients', 'host', 'port', 'email', 'sort', 'limit', 'tags', 'm', 'd', 'settings'],
]
const SCALARS = [
  ...['null', 'true', 'false', '0', '-0', '1', '-1', '1e400', '-1e400', '1e-400', '9007199254740993', '0.1', '1e21'],
  ...['""', '"a"', '"\\u0000"', '"\\ud800"', '"__proto__"', '"generic"', '"nominative"', '"RESET_BIOMETRIC_PROFILE"'],
  ...['"2026-01-01T00:00:00Z"', '"LINK_PATTERN"', '"en"', '"749205"', '"1.0.0"', '[]', '{}', '{"x":1}', '[[]]'],
  ...['"\u2028"', '"é"', '"\\"}"', 'NaN', 'undefined', 'Infinity', "'a'", '01', '+1', '.5', '"', '\\'],
]

/** Malformed and extreme JSON bodies, the same for the same seed. Bytes, because some are not UTF-8. */
function hostileBodies(seed: number): () => Buffer {
  const { next: random, below, pick } = randomOn(seededRandom(seed))
  const object = (fields: number, depth: number) =>
    `{${Array.from({ length: fields }, () => `${JSON.stringify(pick(KEYS))}:${value(depth)}`).join(',')}}`
  function value(depth: number): string {
    const kind = random()
    if (depth <= 0 || kind < 0.45) return pick(SCALARS)
    if (kind < 0.65) return `[${Array.from({ length: below(5) }, () => value(depth - 1)).join(',')}]`
    return object(below(5), depth - 1)
  }
  const bombs: (() => string)[] = [
    () => '['.repeat(1 + below(8000)),
    () => `${'['.repeat(200)}${']'.repeat(200)}`,
    () => `${'{"a":'.repeat(1 + below(2000))}1`,
    () => `{${Array.from({ length: 800 }, (_, i) => `"${'a'.repeat(i % 7)}${i}":${i}`).join(',')}}`,
    () => `"${'\\u0041'.repeat(below(2500))}"`,
    () => `[${'1,'.repeat(below(7000))}1]`,
    () => `[${'0.1e1,'.repeat(below(2500))}${'9'.repeat(3000)}]`,
    () => `{"kevt":[${'{"type":"keydown"},'.repeat(below(600))}{}]}`,
  ]
  return () => {
    const kind = random()
    const text = kind < 0.1 ? pick(bombs)() : kind < 0.9 ? object(1 + below(6), 4) : value(3)
    const bytes = Buffer.from(text.slice(0, 16_000))
    // One in ten is damaged: a byte is changed, or the end is cut off.
    if (bytes.length > 0 && random() < 0.05) bytes[below(bytes.length)] = below(256)
    return random() < 0.05 ? bytes.subarray(0, below(bytes.length + 1)) : bytes
  }
}

const polluted = () => [...Object.keys({}), ...Object.keys([]), ...Object.getOwnPropertyNames(Object.prototype)].join()

it('hostile bodies are refused or read on every endpoint with a body, and nothing breaks', async () => {
  const service = await sharedService()
  const before = polluted()
  const next = hostileBodies(22)
  const port = Number(new URL(service.core).port)
  await service.call('POST', '/users/fuzzed')
  const { session } = await service.bootstrap('fuzzed')
  const key = await linkTo(service, 'create', 'linked')
  const statuses = new Map<number, number>()
  let sent = 0
  const worker = async () => {
    let connection = await keepAlive(port)
    while (sent < BODIES) {
      const [api, { method, path }] = ROWS[sent++ % ROWS.length] as (typeof ROWS)[number]
      const named = path.replace('{userRef}', 'fuzzed').replace(/\{\w+\}/g, '00000000-0000-7000-8000-000000000000')
      const body = next()
      const head = [
        `${method.toUpperCase()} /${api}${named} HTTP/1.1`,
        ...['host: x', `apikey: ${service.apikey}`, `x-service-session: ${session}`, `x-link-key: ${key}`],
        ...['content-type: application/json', `content-length: ${body.length}`, '', ''],
      ].join('\r\n')
      // The service may close the connection after a refusal, but not without an answer.
      const answer = await connection.send(Buffer.concat([Buffer.from(head), body])).catch(() => null)
      const status = answer?.status ?? 0
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if ([0, 408, 413].includes(status)) {
        connection.close()
        connection = await keepAlive(port)
      }
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  console.log(JSON.stringify(Object.fromEntries([...statuses].sort(([a], [b]) => a - b))))
  const broken = [...statuses].filter(([status]) => status === 0 || status >= 500).reduce((sum, [, n]) => sum + n, 0)
  const changed = polluted() === before ? 0 : 1
  const found = `${broken} of ${sent.toLocaleString('en')} answered 500 or not at all, ${changed} prototypes changed`
  figure('T22', found, '0 and 0', broken + changed === 0)
  expect(statuses.get(422)).toBeGreaterThan(sent / 4)
}, 3_600_000)
