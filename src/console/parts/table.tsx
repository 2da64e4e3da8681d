import type { ComponentChild } from 'preact'
import type { List } from '../answers.js'
import { get, type Query } from '../api.js'
import { count } from '../format.js'
import type { Loaded } from '../load.js'
import { hrefWith, navigate, viewAddress } from '../router.js'
import { fill, t } from '../texts.js'
import { Exact } from './exact.js'
import { Link } from './link.js'
import { Empty, Show } from './states.js'
import { Wide } from './wide.js'

/** Rows of one page. */
const PAGE = 25

/** Number of rows before this page, from the address. */
export const skipNow = (): number => Math.max(0, Math.trunc(Number(viewAddress.value.query.get('skip'))) || 0)

/** One page of a list, and the number of rows before it. */
export interface Rows<T> extends List<T> {
  readonly skip: number
}

/** The page of a list that the address names. `L` is the type of the answer, with its further fields. */
export async function getRows<T, L extends List<T> = List<T>>(
  path: string,
  query: Query,
  signal: AbortSignal,
): Promise<L & Rows<T>> {
  const skip = skipNow()
  return { ...(await get<L>(path, { ...query, skip, limit: PAGE }, signal)), skip }
}

/** The page that the address names, from a list that the API does not page. */
export function pageOf<T>(all: readonly T[]): Rows<T> {
  const skip = skipNow()
  return { count: all.length, data: all.slice(skip, skip + PAGE), skip }
}

export interface Column<T> {
  readonly name: string
  readonly show: (row: T) => ComponentChild
  /** Figures are aligned at their last digit. */
  readonly figure?: boolean
  /** A reference, which a browser that translates the page leaves as it is. */
  readonly exact?: true
  /** The API's name for the order by this column; absent if the list cannot be ordered by it. */
  readonly sort?: string
}

interface Order {
  readonly by: string
  readonly order: 'asc' | 'desc'
}

/** The order that the address names; by default `by`, descending. */
export function orderNow(columns: readonly Column<never>[], by: string): Order {
  const { query } = viewAddress.value
  const named = columns.find(({ sort }) => sort !== undefined && sort === query.get('sort'))?.sort
  return { by: named ?? by, order: query.get('order') === 'asc' ? 'asc' : 'desc' }
}

interface TableNeeds<T> {
  /** The content of the table in words. */
  readonly label: string
  /** Loaded by `getRows`. */
  readonly of: Loaded<Rows<T>>
  /** The first column names the row. */
  readonly columns: readonly Column<T>[]
  readonly idOf: (row: T) => string
  /** The address of a row's view; absent or undefined if the row opens nothing. */
  readonly to?: (row: T) => string | undefined
  readonly order?: Order
  /** Shown if there is no row at all. */
  readonly empty: ComponentChild
}

/** A table that the API pages and orders. Arrow keys move between its rows, Enter or a click opens one. */
export function Table<T>({ label, of, columns, idOf, to, order, empty }: TableNeeds<T>) {
  return (
    <Show of={of}>
      {({ data, count: n, skip }) =>
        n === 0 ? (
          empty
        ) : (
          <>
            {data.length === 0 ? (
              <PastTheEnd />
            ) : (
              <Wide label={label} onKeyDown={moveBetweenRows}>
                <table class="rows">
                  <Heads columns={columns} order={order} />
                  <tbody>
                    {data.map((row) => (
                      <Row key={idOf(row)} row={row} columns={columns} to={to?.(row)} />
                    ))}
                  </tbody>
                </table>
              </Wide>
            )}
            <Paging n={n} skip={skip} shown={data.length} opens={to !== undefined} />
          </>
        )
      }
    </Show>
  )
}

interface HeadsNeeds {
  readonly columns: readonly Column<never>[]
  readonly order: Order | undefined
}

const Heads = ({ columns, order }: HeadsNeeds) => (
  <thead>
    <tr>
      {columns.map(({ name, sort, figure }) => {
        const sorted = order !== undefined && sort === order.by
        const other = sorted && order.order === 'desc' ? 'asc' : 'desc'
        return (
          <th
            key={name}
            scope="col"
            class={figure ? 'figure' : undefined}
            aria-sort={sorted ? (order.order === 'asc' ? 'ascending' : 'descending') : undefined}
          >
            {sort === undefined || order === undefined ? (
              name
            ) : (
              <a href={hrefWith({ sort, order: other, skip: null })}>
                {name}
                {sorted && <span aria-hidden="true">{order.order === 'asc' ? ' ↑' : ' ↓'}</span>}
              </a>
            )}
          </th>
        )
      })}
    </tr>
  </thead>
)

interface RowNeeds<T> {
  readonly row: T
  readonly columns: readonly Column<T>[]
  readonly to: string | undefined
}

function Row<T>({ row, columns, to }: RowNeeds<T>) {
  const [first, ...others] = columns
  const open = (event: MouseEvent) => {
    const onControl = event.target instanceof Element && event.target.closest('a, button, input, select') !== null
    if (to !== undefined && !onControl && String(getSelection()) === '') navigate(to)
  }
  return (
    <tr class={to === undefined ? undefined : 'opens'} onClick={open}>
      <th scope="row" translate={false}>
        {to === undefined ? (
          first?.show(row)
        ) : (
          <Link to={to} class="row-link">
            {first?.show(row)}
          </Link>
        )}
      </th>
      {others.map(({ name, show, figure, exact }) => (
        <td key={name} class={figure ? 'figure' : undefined}>
          {exact ? <Exact>{show(row)}</Exact> : show(row)}
        </td>
      ))}
    </tr>
  )
}

function moveBetweenRows(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('.row-link')]
  const row = event.target instanceof Element ? event.target.closest('tr') : null
  const at = links.findIndex((link) => row?.contains(link))
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: links.length - 1,
  }
  const target = targets[event.key]
  const link = target === undefined ? undefined : links[target]
  if (link === undefined) return
  event.preventDefault()
  link.focus()
}

const PastTheEnd = () => (
  <Empty title={t.table.past}>
    <p>
      <a href={hrefWith({ skip: null })}>{t.table.first}</a>
    </p>
  </Empty>
)

interface PagingNeeds {
  readonly n: number
  readonly skip: number
  readonly shown: number
  readonly opens: boolean
}

function Paging({ n, skip, shown, opens }: PagingNeeds) {
  const values = { from: count(skip + 1), to: count(skip + shown), count: count(n) }
  return (
    <nav class="paging" aria-label={t.table.paging}>
      {shown > 0 && <span>{fill(t.table.range, values)}</span>}
      {opens && <span class="soft keys">{t.table.keys}</span>}
      <Step name={t.table.previous} to={skip === 0 ? null : hrefWith({ skip: Math.max(0, skip - PAGE) || null })} />
      <Step name={t.table.next} to={skip + shown >= n ? null : hrefWith({ skip: skip + PAGE })} />
    </nav>
  )
}

const Step = ({ name, to }: { readonly name: string; readonly to: string | null }) => (
  <a class="button quiet" {...(to === null ? { role: 'link', 'aria-disabled': 'true' } : { href: to })}>
    {name}
  </a>
)
