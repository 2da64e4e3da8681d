import type { JsonSchema } from './route-docs.js'

export type Ref = { readonly $ref: string }

/** The components of one document. Equal schemas are stored once, under the name of the first. */
export interface Shelf {
  readonly schemas: Readonly<Record<string, unknown>>
  readonly responses: Readonly<Record<string, unknown>>
  readonly examples: Readonly<Record<string, unknown>>
  /** Stores a schema under its title, or under `name` if it has none. */
  schema(name: string, schema: JsonSchema): Ref
  /** Returns a schema to inline. Its titled subschemas and its definitions become components. */
  inlined(schema: JsonSchema, prefix: string): unknown
  /** Calls `make` only at the first use of the name. */
  response(name: string, make: () => unknown): Ref
  /** Stores an example; ignores a later example of the same name. */
  example(name: string, summary: string, value: unknown): Ref
}

/** JSON Schema keywords whose values are data, not schemas. */
const DATA = new Set(['examples', 'default', 'const', 'enum'])

export function makeShelf(): Shelf {
  const schemas: Record<string, unknown> = {}
  const responses: Record<string, unknown> = {}
  const examples: Record<string, unknown> = {}
  const nameByText = new Map<string, string>()

  function keep(name: string, schema: unknown): Ref {
    const text = JSON.stringify(schema)
    const known = nameByText.get(text) ?? name
    if (!nameByText.has(text) && known in schemas) throw new Error(`two different schemas have the name ${known}`)
    nameByText.set(text, known)
    schemas[known] = schema
    return { $ref: `#/components/schemas/${known}` }
  }

  function inlined(schema: JsonSchema, prefix: string): unknown {
    const { $defs = {}, ...rest } = schema
    const placed = (object: object): object =>
      Object.fromEntries(
        Object.entries(object).map(([key, item]) => {
          if (DATA.has(key)) return [key, item]
          if (key !== '$ref' || typeof item !== 'string') return [key, place(item)]
          if (item === '#') return [key, `#/components/schemas/${prefix}`]
          return [key, item.replace('#/$defs/', `#/components/schemas/${prefix}.`)]
        }),
      )
    const place = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(place)
      if (typeof value !== 'object' || value === null) return value
      const { title } = value as JsonSchema
      return typeof title === 'string' ? keep(title, placed(value)) : placed(value)
    }
    for (const [name, definition] of Object.entries($defs)) schemas[`${prefix}.${name}`] = place(definition)
    return placed(rest)
  }

  return {
    schemas,
    responses,
    examples,
    schema: (name, schema) => keep(schema.title ?? name, inlined(schema, schema.title ?? name)),
    inlined,
    response(name, make) {
      responses[name] ??= make()
      return { $ref: `#/components/responses/${name}` }
    },
    example(name, summary, value) {
      examples[name] ??= { summary, value }
      return { $ref: `#/components/examples/${name}` }
    },
  }
}
