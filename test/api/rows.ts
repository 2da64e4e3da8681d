import { coreRoutes } from '../../src/api/core-table.js'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { linkRoutes } from '../../src/api/links-table.js'
import { bodySchemaOf, type JsonSchema, propertiesOf } from '../../src/http/docs/route-docs.js'
import { membersOf, sampleOf } from '../../src/http/docs/schema-text.js'
import type { Route } from '../../src/http/route.js'
import { DEVICE } from '../harness/sign-ins.js'

const TABLES: readonly (readonly [api: string, rows: readonly Route<never>[]])[] = [
  ['core', coreRoutes],
  ['auth', linkRoutes],
  ['dashboard', dashboardRoutes],
]
/** Every row of the route tables of all three APIs: its name, its API and the row itself. */
export const ROWS = TABLES.flatMap(([api, rows]) =>
  rows.map((row) => [`${row.method} /${api}${row.path}`, api, row] as const),
)

/** Valid values of path parameters other than ids. */
export const GOOD: Readonly<Record<string, string>> = {
  indicator: 'biometric',
  search: 'a',
  tag: 'app',
  signal: 'address',
  type: 'events',
}
export const ID = '00000000-0000-7000-8000-000000000000'

/** Valid values of fields without an example. */
const VALID: Readonly<Record<string, unknown>> = { securityCode: '749205', patternId: ID }

/** The path of a route; the given parameters must be percent-encoded. */
export const pathOf = (row: Route<never>, given: Readonly<Record<string, string>>): string =>
  row.path.replace(/\{(\w+)\}/g, (_, name: string) => given[name] ?? GOOD[name] ?? ID)

/** A complete body of each shape that a route accepts. */
export function bodiesOf(row: Route<never>, freshPattern: () => unknown): [schema: JsonSchema, body: unknown][] {
  const schema = bodySchemaOf(row.body)
  if (schema === null) return []
  const shapes = schema.properties === undefined && membersOf(schema).length > 0 ? membersOf(schema) : [schema]
  return shapes.map((shape) => {
    const isPattern = shape.properties?.kevt !== undefined
    if (isPattern) return [shape, { ...(freshPattern() as object), d: DEVICE, m: [{ et: 1, type: 'move' }] }]
    const sample = sampleOf(shape) as Record<string, unknown>
    for (const name of Object.keys(VALID)) if (name in sample) sample[name] = VALID[name]
    return [shape, 'pattern' in (shape.properties ?? {}) ? { ...sample, pattern: freshPattern() } : sample]
  })
}

type Step = string | number
export interface Field {
  readonly path: readonly Step[]
  /** Whether the field and all its parents are required. */
  readonly required: boolean
  /** Whether its object allows it to be absent. */
  readonly optional: boolean
  /** Whether null has a meaning. */
  readonly nullable: boolean
}

/** Every field of a schema; fields of an array's items are at the first item. */
export function fieldsIn(schema: JsonSchema, path: readonly Step[] = [], inside = true): Field[] {
  const { items } = schema
  return [
    ...propertiesOf(schema).flatMap(({ name, required, schema: field }) => [
      { path: [...path, name], required: inside && required, optional: !required, nullable: takesNull(field) },
      ...fieldsIn(field, [...path, name], inside && required),
    ]),
    ...(typeof items === 'object' && !Array.isArray(items)
      ? [
          { path: [...path, 0], required: false, optional: false, nullable: false },
          ...fieldsIn(items, [...path, 0], inside),
        ]
      : []),
    ...membersOf(schema).flatMap((member) => fieldsIn(member, path, false)),
  ]
}

const takesNull = (schema: JsonSchema): boolean =>
  [schema.type].flat().includes('null') || membersOf(schema).some(takesNull)
