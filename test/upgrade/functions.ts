import type pg from 'pg'

/** A function of the schema `keystride`, as a caller sees it. */
export interface Callable {
  readonly name: string
  /** Types of the parameters that a call gives, in order. */
  readonly takes: readonly string[]
  /** Trailing parameters that a call may leave out. */
  readonly defaults: number
  /** Result, with the columns of a table. */
  readonly gives: string
}

/** Every function and procedure of the schema except those of triggers, which only the schema calls. */
export async function callables(client: pg.Client): Promise<readonly Callable[]> {
  const { rows } = await client.query<Callable>(`
    select p.proname as name, array(select format_type(t, null) from unnest(p.proargtypes) with ordinality u (t, i) order by i) as takes,
      p.pronargdefaults as defaults, coalesce(pg_get_function_result(p.oid), '') as gives
    from pg_proc p where p.pronamespace = 'keystride'::regnamespace and p.prorettype <> 'trigger'::regtype order by 1`)
  return rows
}

/** Functions that a caller written for `before` no longer finds in `after`, or finds with another result. */
export const lost = (before: readonly Callable[], after: readonly Callable[]): readonly Callable[] =>
  before.filter((old) => !after.some((now) => accepts(now, old)))

const accepts = (now: Callable, old: Callable): boolean =>
  now.name === old.name &&
  now.gives === old.gives &&
  old.takes.every((type, i) => now.takes[i] === type) &&
  now.takes.length - old.takes.length >= 0 &&
  now.takes.length - old.takes.length <= now.defaults
