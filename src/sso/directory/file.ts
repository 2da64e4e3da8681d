import { readFile, stat } from 'node:fs/promises'
import { z } from 'zod'
import { ExpectedFault } from '../../domain/expected-fault.js'
import { check, fieldPath } from '../../domain/validation/validation.js'
import { strict } from '../settings.js'
import type { PeopleDirectory, Person } from './directory.js'
import { personOf } from './person-of.js'

const People = z.array(
  strict({
    name: z.string().min(1).describe('as the identity provider names the person'),
    userRef: z.string().optional(),
    email: z.string().optional(),
    displayName: z.string().optional(),
    language: z.string().optional(),
  }),
)

/**
 * A JSON file as directory: an array of people, found by `name` without regard to case; `userRef` is the name by default. Read
 * again when the file has changed. Throws an `ExpectedFault` if the file is not valid at the start; later the last valid content stays.
 */
export async function fileDirectory(path: string, log: (line: string) => void): Promise<PeopleDirectory> {
  let read = await loadDirectoryFile(path)
  return {
    async find(name) {
      const { mtimeMs } = await stat(path)
      if (mtimeMs !== read.mtimeMs)
        read = await loadDirectoryFile(path).catch((error: Error) => {
          log(error.message)
          return { ...read, mtimeMs }
        })
      return read.people.get(name.toLowerCase()) ?? null
    },
    async close() {},
  }
}

/** Throws an `ExpectedFault` if the file is not a directory of people. */
export async function loadDirectoryFile(
  path: string,
): Promise<{ mtimeMs: number; people: ReadonlyMap<string, Person> }> {
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
  const checked = check(People, given)
  if (!checked.ok)
    throw fault(`is not valid: ${checked.problems.map((one) => `${fieldPath(one.path)}: ${one.message}`).join('; ')}`)
  const people = new Map<string, Person>()
  for (const { name, userRef = name, email, displayName, language } of checked.data) {
    const person = personOf({ userRef, email, displayName, language })
    if (person === null) throw fault(`names ${JSON.stringify(name)}, whose userRef is not valid`)
    if (people.has(name.toLowerCase())) throw fault(`names ${JSON.stringify(name)} twice`)
    people.set(name.toLowerCase(), person)
  }
  return { mtimeMs, people }
}
