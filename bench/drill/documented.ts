import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/scoring/artifacts.js'

const read = (name: string) => readFileSync(join(packageRoot(), 'docs', name), 'utf8')

/** The scripts of docs/operations.md, as printed, so that a drill rehearses what an operator reads. */
export function backupScripts(): { readonly dump: string; readonly verify: string; readonly restore: string } {
  const [, backup, restore] =
    /### Backup by pg_dump\n\n```sh\n([\s\S]*?)```[\s\S]*?```sh\n([\s\S]*?)```/.exec(read('operations.md')) ?? []
  const [dump, verify] = backup?.split(/(?=^keystride backup verify)/m) ?? []
  if (dump === undefined || verify === undefined || restore === undefined)
    throw new Error(
      'docs/operations.md: wanted two scripts under "Backup by pg_dump", one with "keystride backup verify"',
    )
  return { dump, verify, restore }
}

/** The commands of docs/operations.md that rotate the encryption key with `ENCRYPTION_KEY`. */
export function rotationCommands(): { readonly create: string; readonly rotate: string; readonly status: string } {
  const section =
    /## Rotate the encryption key\n[\s\S]*?With `ENCRYPTION_KEY`:\n([\s\S]*?)(?=\n## |$)/.exec(
      read('operations.md'),
    )?.[1] ?? ''
  const [create, rotate, status] = [...section.matchAll(/`((?:openssl|npx keystride) [^`]+)`/g)].map(([, found = '']) =>
    found.replace(/^npx /, ''),
  )
  if (create === undefined || rotate === undefined || status === undefined)
    throw new Error('docs/operations.md: wanted three commands under "Rotate the encryption key"')
  return { create, rotate, status }
}
