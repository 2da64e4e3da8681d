import { appendFileSync } from 'node:fs'
import { expect } from 'vitest'

/** Row id: an attack (T) or a fault (F). */
export type RowId = `${'T' | 'F'}${number}${number}`

export interface Figure {
  readonly row: RowId
  /** The count with its total: `0 of 9,900 accepted`. */
  readonly figure: string
  /** The required value: `0 of 9,900`. */
  readonly bar: string
  readonly pass: boolean
}

/**
 * Fails the test if `pass` is false. With `TRUST_FIGURES` set, also appends the figure to that file as a line of JSON,
 * for the table of `npm run test:trust`.
 */
export function figure(row: RowId, found: string, bar: string, pass: boolean): void {
  const file = process.env.TRUST_FIGURES
  const one: Figure = { row, figure: found, bar, pass }
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(one)}\n`)
  expect(pass, `${row}: found ${found}, wanted ${bar}`).toBe(true)
}

/** True with `npm run test:trust -- --long`. Otherwise tests run a shorter form with smaller counts. */
export const LONG = process.env.FAULTS === 'long'
