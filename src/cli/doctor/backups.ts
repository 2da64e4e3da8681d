import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import type { Reading } from '../../storage/inspection.js'
import { wholeErasureList } from '../erasure-list.js'
import { type Finding, findingsOf, size, span } from './finding.js'

const { ok, note, warning, problem } = findingsOf('backup')

interface BackupFile {
  readonly file: string
  readonly bytes: number
  /** Epoch ms. */
  readonly at: number
}

/** Checks the newest backup at `path`, a file or a folder. `keyFiles` are the files that hold encryption keys. */
export function checkBackup(path: string | undefined, maxAgeH: number, keyFiles: readonly string[]): Finding[] {
  if (path === undefined) return [note('No backup was looked at.', 'Name the folder of the backups with --backup.')]
  let newest: BackupFile | null
  try {
    newest = newestOf(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // what node:fs throws
    return [problem(`--backup ${path} cannot be read (${code}).`, 'Name an existing file or folder.')]
  }
  if (newest === null)
    return [problem(`There is no backup in ${path}.`, 'Make one: docs/operations.md has the commands.')]
  return [ageOf(newest, maxAgeH), ...keysNextTo(path, keyFiles)]
}

function ageOf({ file, bytes, at }: BackupFile, maxAgeH: number): Finding {
  const ageS = (Date.now() - at) / 1000
  const text = `The newest backup is ${file}, ${size(bytes)}, ${span(ageS)} old`
  if (bytes === 0) return problem(`${text}: it is empty.`, 'Make a new one, and read what pg_dump says.')
  if (ageS > maxAgeH * 3600)
    return warning(
      `${text}; the limit is ${span(maxAgeH * 3600)}.`,
      'Make a backup, and check the job that makes them.',
    )
  return ok(`${text}.`)
}

function keysNextTo(path: string, keyFiles: readonly string[]): Finding[] {
  const folder = statSync(path).isDirectory() ? resolve(path) : resolve(path, '..')
  return keyFiles
    .filter((file) => `${resolve(file)}${sep}`.startsWith(`${folder}${sep}`))
    .map((file) =>
      problem(
        `The encryption key is next to the backups, in ${file}: both together reveal everything.`,
        'Keep the key apart from the backups.',
      ),
    )
}

/** A folder may be one backup (`pg_dump --format=directory`) or hold several. A name that ends in `.part` is incomplete. */
function newestOf(path: string): BackupFile | null {
  const one = backupAt(path)
  if (one !== null) return one
  const found = readdirSync(path)
    .filter((name) => !name.endsWith('.part'))
    .flatMap((name) => backupAt(join(path, name)) ?? [])
  return found.sort((a, b) => b.at - a.at)[0] ?? null
}

function backupAt(file: string): BackupFile | null {
  const found = statSync(file)
  if (found.isFile()) return { file, bytes: found.size, at: found.mtimeMs }
  const contents = found.isDirectory() ? statSync(join(file, 'toc.dat'), { throwIfNoEntry: false }) : undefined
  if (contents === undefined) return null
  const bytes = readdirSync(file).reduce((sum, name) => sum + statSync(join(file, name)).size, 0)
  return { file, bytes, at: contents.mtimeMs }
}

/** Checks a list of erasures against the latest erasure of the database; null if the database could not be reached. */
export function checkErasures(
  file: string | undefined,
  maxAgeH: number,
  lastErasure: Reading<number | null> | null,
): Finding[] {
  if (file === undefined)
    return [
      note(
        'No list of erasures was looked at.',
        'Name the latest output of "keystride erasures export" with --erasures.',
      ),
    ]
  let text: string
  let at: number
  try {
    text = readFileSync(file, 'utf8')
    at = statSync(file).mtimeMs
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // as above
    return [problem(`--erasures ${file} cannot be read (${code}).`, 'Run "keystride erasures export > FILE".')]
  }
  const list = wholeErasureList(text)
  if (list === null)
    return [problem(`${file} is not a whole list of erasures.`, 'Run "keystride erasures export > FILE" again.')]
  const last = lastErasure !== null && 'value' in lastErasure ? lastErasure.value : null
  const newest = list.reduce((most, one) => Math.max(most, one.at), 0)
  const entries = `The list of erasures has ${list.length.toLocaleString('en')} entries and is ${span((Date.now() - at) / 1000)} old`
  if (last !== null && last > newest && last > at)
    return [warning(`${entries}; people were deleted after it.`, 'Export it every few minutes.')]
  if (Date.now() - at > maxAgeH * 3_600_000)
    return [warning(`${entries}; the limit is ${span(maxAgeH * 3600)}.`, 'Export it every few minutes.')]
  return [
    ok(`${entries}.`),
    ...(last === null && (lastErasure === null || 'unread' in lastErasure)
      ? [
          note(
            'Deletions since the list could not be read from the database.',
            'Run the check again with the database.',
          ),
        ]
      : []),
  ]
}
