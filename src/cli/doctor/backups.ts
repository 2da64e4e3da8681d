import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import type { Reading } from '../../storage/inspection.js'
import { wholeErasureList } from '../erasure-list.js'
import { count, type Finding, findingsOf, size, span } from './finding.js'

const { ok, note, warning, problem } = findingsOf('backup')

interface BackupFile {
  readonly file: string
  readonly bytes: number
  /** Epoch ms. */
  readonly at: number
}

/** Checks the newest backup at `path`, a file or a folder. `keyFiles` are the files that hold encryption keys. */
export function checkBackup(path: string | undefined, maxAgeH: number, keyFiles: readonly string[]): Finding[] {
  if (path === undefined) return [note('No backup was checked.', 'Name the folder of the backups with --backup.')]
  let found: FoundBackups
  try {
    found = backupsAt(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // what node:fs throws
    return [problem(`--backup ${path} cannot be read (${code}).`, 'Name an existing file or folder.')]
  }
  const { newest, others } = found
  const skipped = others === 0 ? '' : `; ${count(others, 'other file')} skipped`
  if (newest === null)
    return [
      problem(
        `There is no backup in ${path}${skipped}.`,
        'Make one by pg_dump --format=custom or pg_basebackup: docs/operations.md has the commands.',
      ),
    ]
  return [ageOf(newest, maxAgeH, skipped), ...keysNextTo(path, keyFiles)]
}

function ageOf({ file, bytes, at }: BackupFile, maxAgeH: number, skipped: string): Finding {
  const ageS = (Date.now() - at) / 1000
  const text = `The newest backup is ${file}, ${size(bytes)}, ${span(ageS)} old`
  if (ageS > maxAgeH * 3600)
    return warning(
      `${text}; the limit is ${span(maxAgeH * 3600)}${skipped}.`,
      'Make a backup, and check the job that makes them.',
    )
  return ok(`${text}${skipped}.`)
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

interface FoundBackups {
  readonly newest: BackupFile | null
  /** Number of files and folders that are no backup, cannot be read, or have a name that ends in `.part`. */
  readonly others: number
}

/** The newest backup at `path`: a file, a folder that is a backup, or a folder that holds backups. */
function backupsAt(path: string): FoundBackups {
  const one = backupAt(path)
  if (one !== null) return { newest: one, others: 0 }
  if (!statSync(path).isDirectory()) return { newest: null, others: 1 }
  const all = readdirSync(path).map((name) => (name.endsWith('.part') ? null : readableBackupAt(join(path, name))))
  const found = all.filter((each) => each !== null).sort((a, b) => b.at - a.at)
  return { newest: found[0] ?? null, others: all.length - found.length }
}

/** `backupAt`; null also for an entry that cannot be read, such as `lost+found` or a link to nowhere. */
function readableBackupAt(file: string): BackupFile | null {
  try {
    return backupAt(file)
  } catch {
    return null
  }
}

/** Files that a folder of `pg_dump --format=directory` or of `pg_basebackup` has. */
const MARKS = /^(toc\.dat|backup_label|base\.tar(\..+)?)$/

/** The backup at a path; null if it is neither a file of `pg_dump --format=custom` nor a folder with one of `MARKS`. */
function backupAt(file: string): BackupFile | null {
  const found = statSync(file)
  if (found.isFile()) return startsAsDump(file) ? { file, bytes: found.size, at: found.mtimeMs } : null
  if (!found.isDirectory()) return null
  const names = readdirSync(file)
  const mark = names.find((name) => MARKS.test(name))
  if (mark === undefined) return null
  const bytes = readdirSync(file, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0)
  return { file, bytes, at: statSync(join(file, mark)).mtimeMs }
}

const DUMP = 'PGDMP'

function startsAsDump(file: string): boolean {
  const opened = openSync(file, 'r')
  try {
    const start = Buffer.alloc(DUMP.length)
    return readSync(opened, start) === DUMP.length && start.toString('latin1') === DUMP
  } finally {
    closeSync(opened)
  }
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
        'No list of erasures was checked.',
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
  if (last !== null && last > newest)
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
