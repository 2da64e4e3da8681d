import { readFile, stat } from 'node:fs/promises'
import { z } from 'zod'
import { ExpectedFault } from '../../base/expected-fault.js'
import { check, sentenceOf } from '../../base/validation.js'
import { USER_REF_RULE } from '../../domain/user-ref.js'
import { strict } from '../settings.js'
import { type DirectoryPerson, type PeopleDirectory, writtenName } from './directory.js'
import { personOf } from './person-of.js'

const Entry = strict({
  name: z.string().min(1).describe('as the identity provider names the person'),
  userRef: z.string().optional(),
  email: z.string().optional(),
  displayName: z.string().optional(),
  language: z.string().optional(),
})

/** The content of a directory file. */
interface DirectoryFile {
  readonly mtimeMs: number
  readonly people: ReadonlyMap<string, DirectoryPerson>
  /** One sentence on the entries that were left out or are incomplete; null if there are none. */
  readonly faults: string | null
}

/**
 * A JSON file as directory: an array of people, found by `name` without regard to case; `userRef` is the name by default. The file
 * is read again when it has changed. An entry that cannot be used is left out and named in the log. Throws an `ExpectedFault` if the
 * file has no usable content at the start; later the last usable content stays in use.
 */
export async function fileDirectory(path: string, log: (line: string) => void): Promise<PeopleDirectory> {
  const load = async () => {
    const loaded = await loadDirectoryFile(path)
    if (loaded.faults !== null) log(loaded.faults)
    return loaded
  }
  let read = await load()
  return {
    async find(name) {
      const { mtimeMs } = await stat(path)
      if (mtimeMs !== read.mtimeMs)
        read = await load().catch((error: Error) => {
          log(error.message)
          return { ...read, mtimeMs }
        })
      return read.people.get(keyOf(name)) ?? null
    },
  }
}

const keyOf = (name: string): string => writtenName(name).toLowerCase()

/** Throws an `ExpectedFault` if the file is not a directory, or none of its people can be used. */
export async function loadDirectoryFile(path: string): Promise<DirectoryFile> {
  const fault = (why: string) => new ExpectedFault(`the directory ${path} ${why}`)
  const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]).catch(() => {
    throw fault('cannot be read')
  })
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch (error) {
    throw fault(`is not JSON: ${(error as Error).message}`)
  }
  if (!Array.isArray(given)) throw fault('is not a JSON array of people')
  const { people, faults } = peopleOf(given)
  const some = faults.length > FAULTS_MAX ? [...faults.slice(0, FAULTS_MAX), `${faults.length} in all`] : faults
  if (people.size === 0 && faults.length > 0) throw fault(`has no entry that can be used: ${some.join('; ')}`)
  return { mtimeMs, people, faults: faults.length === 0 ? null : `the directory ${path}: ${some.join('; ')}` }
}

/** Maximum number of faults in a line of the log. */
const FAULTS_MAX = 20

interface Listed {
  /** Index and name of the entry, such as `[3] "ann"`. */
  readonly entry: string
  readonly key: string
  /** The `userRef` before normalization. */
  readonly written: string
  readonly person: DirectoryPerson
}

function peopleOf(given: readonly unknown[]): {
  people: ReadonlyMap<string, DirectoryPerson>
  faults: readonly string[]
} {
  const faults: string[] = []
  const listed = given.flatMap((one, at): Listed[] => {
    const named = (one as { name?: unknown } | null)?.name
    const entry = `[${at}]${typeof named === 'string' ? ` ${JSON.stringify(writtenName(named))}` : ''}`
    const checked = check(Entry, one)
    if (!checked.ok) {
      faults.push(`${entry} is left out: ${sentenceOf(checked.problems, 'the entry')}`)
      return []
    }
    const { name, userRef: written = name, email, displayName, language } = checked.data
    const person = personOf({ userRef: written, email, displayName, language })
    if (person === null) {
      faults.push(`${entry} is left out: userRef ${USER_REF_RULE}`)
      return []
    }
    if (email !== undefined && person.email === null) faults.push(`${entry} has an e-mail address that is not valid`)
    return [{ entry, key: keyOf(name), written: written.trim(), person }]
  })
  const left = new Set<Listed>()
  for (const { why, of, differ } of CLASHES)
    for (const group of groups(listed, of)) {
      if (group.length < 2 || !differ(group)) continue
      faults.push(`${group.map(({ entry }) => entry).join(' and ')} are left out: ${why}`)
      for (const one of group) left.add(one)
    }
  const people = listed.filter((one) => !left.has(one)).map(({ key, person }) => [key, person] as const)
  return { people: new Map(people), faults }
}

function groups<T>(all: readonly T[], of: (one: T) => string): T[][] {
  const found = new Map<string, T[]>()
  for (const one of all) {
    const group = found.get(of(one))
    if (group === undefined) found.set(of(one), [one])
    else group.push(one)
  }
  return [...found.values()]
}

/** Entries that contradict each other: all are left out. Two names with one `userRef`, written in the same way, are one person. */
const CLASHES: readonly {
  readonly why: string
  readonly of: (one: Listed) => string
  readonly differ: (group: readonly Listed[]) => boolean
}[] = [
  { why: 'they have the same name', of: ({ key }) => key, differ: () => true },
  {
    why: 'each userRef becomes the same one by normalization',
    of: ({ person }) => person.userRef,
    differ: (group) => new Set(group.map(({ written }) => written)).size > 1,
  },
]
