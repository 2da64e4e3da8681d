import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { KeyPress } from '../domain/key-press.js'
import { keyOfKeyCode, keyOfName } from '../domain/key-table.js'
import { seededRandom } from './random.js'

export type TypingSession = readonly KeyPress[]

/** A longer time between two presses is a pause. */
export const PAUSE_MS = 2000

/** One person of a data set. `sessions` is by name, in file order. */
export interface Subject {
  readonly id: number
  readonly sessions: ReadonlyMap<string, TypingSession>
}

/** The open data sets. `keys` says how a file writes keys: as key codes, or as characters and names. */
export const DATA_SETS = {
  aalto: { file: 'aalto_desktop.tsv.gz', keys: 'codes' },
  nislab: { file: 'greyc_nislab.tsv.gz', keys: 'names' },
  monacoFree: { file: 'monaco_free_text.tsv.gz', keys: 'names' },
  klicke: { file: 'klicke_essays.tsv.gz', keys: 'names' },
  gradtype: { file: 'gradtype_sentences.tsv.gz', keys: 'names' },
} as const
export type DataSet = keyof typeof DATA_SETS

/**
 * Reads a gzipped TSV (`user session seq key press release`, a line per key press in press order, ms) from a folder.
 * People are sorted by number. Throws an error with the remedy if the folder or file is missing or empty. `wanted` selects
 * people by number; all by default.
 */
export function loadPeople(folder: string, dataSet: DataSet, wanted = (_person: number): boolean => true): Subject[] {
  const { file, keys } = DATA_SETS[dataSet]
  const path = join(folder, file)
  if (!existsSync(folder)) throw new Error(`no folder ${folder}: --data wants the folder that holds the open data sets`)
  if (!existsSync(path))
    throw new Error(`no ${file} in ${folder}: --data wants the folder that holds the open data sets`)
  const keyOf = keys === 'codes' ? (text: string) => keyOfKeyCode(Number(text)) : keyOfName
  const people = new Map<number, Map<string, KeyPress[]>>()
  for (const line of gunzipSync(readFileSync(path)).toString().split('\n').slice(1)) {
    if (!wanted(Number.parseInt(line, 10))) continue
    const [user, session, , key, press, release] = line.split('\t')
    if (session === undefined || key === undefined) continue
    const sessions = people.get(Number(user)) ?? new Map<string, KeyPress[]>()
    people.set(Number(user), sessions)
    const presses = sessions.get(session) ?? []
    sessions.set(session, presses)
    presses.push({ key: keyOf(key), pressMs: Number(press), releaseMs: Number(release) })
  }
  if (people.size === 0) throw new Error(`${file} holds no key press`)
  return [...people].sort(([a], [b]) => a - b).map(([id, sessions]) => ({ id, sessions }))
}

/** Number of people that fit the shipped model; the people after them are only used for reports. */
const FITTING_PEOPLE = 1000

/** Splits by person, in order of their numbers. */
export function splitPeople<T>(people: readonly T[]): {
  readonly fitting: readonly T[]
  readonly untouched: readonly T[]
} {
  return { fitting: people.slice(0, FITTING_PEOPLE), untouched: people.slice(FITTING_PEOPLE) }
}

/** Whether a writer is in the half of KLiCKe that is only used for reports. The half is drawn by number. */
export const isUntouchedWriter = (person: number): boolean => seededRandom(person)() < 0.5
