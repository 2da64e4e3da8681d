import { appendFileSync } from 'node:fs'
import { expect } from 'vitest'

/** A row of the table of attacks (T) and faults (F). */
export type RowId = `${'T' | 'F'}${number}${number}`

export interface Figure {
  readonly row: RowId
  /** What was counted, with its size: `0 of 9,900 accepted`. */
  readonly figure: string
  /** What it must be: `0 of 9,900`. */
  readonly bar: string
  readonly pass: boolean
}

/**
 * Fails the test unless the figure passes. Where `TRUST_FIGURES` names a file, the figure is added to it as a line of JSON,
 * for the table of `npm run test:trust`.
 */
export function figure(row: RowId, found: string, bar: string, pass: boolean): void {
  const file = process.env.TRUST_FIGURES
  const one: Figure = { row, figure: found, bar, pass }
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(one)}\n`)
  expect(pass, `${row}: found ${found}, wanted ${bar}`).toBe(true)
}

/** Figures of the whole size are for `npm run test:trust -- --long`; otherwise a shorter form of the same is run. */
export const LONG = process.env.FAULTS === 'long'
