import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { KeyPress } from '../domain/key-press.js'
import { keyOfKeyCode, keyOfName } from '../domain/key-table.js'
import { seededRandom } from './random.js'

export type TypingSession = readonly KeyPress[]

/** A longer time between two presses is a pause. */
export const PAUSE_MS = 2000

/** A long text in pieces of so many presses; what is left at the end is dropped. */
export const inPieces = (text: TypingSession, presses: number): TypingSession[] =>
  Array.from({ length: Math.floor(text.length / presses) }, (_, i) => text.slice(presses * i, presses * (i + 1)))

/** One person of a data set. `sessions` is by name, in file order. */
export interface Subject {
  readonly id: number
  readonly sessions: ReadonlyMap<string, TypingSession>
}

/** One file of open typing data. */
interface Source {
  readonly file: string
  /** How the file writes keys: as key codes, or as characters and names. */
  readonly keys: 'codes' | 'names'
  /** The people and their typing, for a report. */
  readonly says: string
  /** Whether the shipped model was fitted on it: on some people, on all, or on none. */
  readonly fitted: 'some' | 'all' | 'none'
  /** The terms as the source states them. */
  readonly terms: string
  /** Whether a model may be fitted on it. The others are for reports only. */
  readonly mayFit: boolean
}

/** The sources of open typing data. */
export const DATA_SETS = {
  aalto: {
    file: 'aalto_desktop.tsv.gz',
    keys: 'codes',
    says: 'transcribed sentences, own keyboards, one sitting',
    fitted: 'some',
    terms: 'non-commercial use in research, with attribution',
    mayFit: true,
  },
  nislab: {
    file: 'greyc_nislab.tsv.gz',
    keys: 'names',
    says: 'passphrases of 17 to 24 characters, one hand and two',
    fitted: 'all',
    terms: 'none stated',
    mayFit: true,
  },
  monacoFree: {
    file: 'monaco_free_text.tsv.gz',
    keys: 'names',
    says: 'free text on six days',
    fitted: 'all',
    terms: 'none stated for the data',
    mayFit: true,
  },
  klicke: {
    file: 'klicke_essays.tsv.gz',
    keys: 'names',
    says: 'essays composed freely in half an hour, own computers',
    fitted: 'some',
    terms: 'MIT',
    mayFit: true,
  },
  l2: {
    file: 'l2_essays.tsv.gz',
    keys: 'names',
    says: 'essays in a second language, lab computers with a clock of 8 ms',
    fitted: 'all',
    terms: 'MIT',
    mayFit: true,
  },
  gradtype: {
    file: 'gradtype_sentences.tsv.gz',
    keys: 'names',
    says: 'twenty sentences that all typed, own keyboards',
    fitted: 'none',
    terms: 'Kor Public License',
    mayFit: false,
  },
  freihaut: {
    file: 'freihaut_password_days.tsv.gz',
    keys: 'names',
    says: 'one password of 19 presses on several days, own keyboards',
    fitted: 'none',
    terms: 'GPL-3',
    mayFit: false,
  },
  mobikey: {
    file: 'touch_mobikey.tsv.gz',
    keys: 'names',
    says: 'three passwords joined to 41 presses, on a touch screen, in several sittings',
    fitted: 'none',
    terms: 'none stated',
    mayFit: false,
  },
} as const satisfies Record<string, Source>
export type DataSet = keyof typeof DATA_SETS
/** The sources that a model may be fitted on. */
export type FittableSet = { [K in DataSet]: (typeof DATA_SETS)[K]['mayFit'] extends true ? K : never }[DataSet]

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

/** Writers of KLiCKe in a report, because each is compared with every other. */
const WRITERS_MAX = 500

/** The people of a source for a report: those that no model was fitted on, or all where a model was fitted on everybody or on nobody. */
export function reportedPeople(folder: string, dataSet: DataSet): readonly Subject[] {
  if (dataSet === 'aalto') return splitPeople(loadPeople(folder, 'aalto')).untouched
  if (dataSet === 'klicke') return loadPeople(folder, 'klicke', isUntouchedWriter).slice(0, WRITERS_MAX)
  return loadPeople(folder, dataSet)
}

/** Whether a writer is in the half of KLiCKe that is only used for reports. The half is drawn by number. */
export const isUntouchedWriter = (person: number): boolean => seededRandom(person)() < 0.5
