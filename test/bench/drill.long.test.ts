import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { whyNoStandby } from '../../bench/shared/debian-postgres.js'
import { whyNoOpenssl } from '../servers/openssl.js'

const why = whyNoStandby() ?? whyNoOpenssl()
if (why !== null) console.warn(`\n*** ${why} ***\n`)

const folder = mkdtempSync(join(tmpdir(), 'keystride-drills-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a drill as `npm run drill` does, with its temporary files in a folder of this test. */
async function drill(args: readonly string[], env: Record<string, string> = {}) {
  const file = fileURLToPath(new URL('../../bin/drill.mjs', import.meta.url))
  const made = mkdtempSync(join(folder, 'tmp-'))
  const options = { env: { ...process.env, TMPDIR: made, ...env } }
  const ran = await new Promise<{ status: number; stdout: string; stderr: string }>((resolve) =>
    execFile(process.execPath, [file, ...args], options, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    ),
  )
  return { ...ran, left: readdirSync(made) }
}

describe('npm run drill', () => {
  it('lists the drills, and refuses an unknown one with status 2', async () => {
    const { stdout: list } = await drill([])
    expect(await drill(['flood'])).toMatchObject({ status: 2, stderr: expect.stringContaining('"flood"') })
    for (const name of ['backup', 'restore', 'rotation']) {
      expect(list).toMatch(new RegExp(`^ {2}${name} `, 'm'))
      expect(await drill([name, '--help'])).toMatchObject({ status: 0, stdout: expect.stringContaining(`-- ${name}`) })
    }
  })
})

describe.skipIf(why !== null)('a drill', () => {
  it.each([
    ['backup', ['pg_dump', 'keystride backup verify']],
    ['restore', ['restore on another server', 'compare every row of every table', 'keystride erasures apply']],
    ['rotation', ['keystride key rotate', 'check that the old key alone is refused']],
  ])('%s succeeds at a small size, and leaves nothing behind', async (name, wanted) => {
    const file = join(folder, `${name}.json`)
    const { status, stdout, stderr, left } = await drill([name, '--patterns', '200', '--json', file])
    expect({ status, left }, stderr).toEqual({ status: 0, left: [] })
    expect(stdout).toMatch(new RegExp(`\n${name}: every step is as wanted\n$`))
    const report = JSON.parse(readFileSync(file, 'utf8'))
    expect(report).toMatchObject({ drill: name, patterns: 200, ok: true })
    expect(report.steps.map(({ step }: { step: string }) => step)).toEqual(expect.arrayContaining(wanted))
    for (const step of report.steps) expect(step).toMatchObject({ ok: true })
  })

  it('ends with status 1 if a command does not do what it is documented to do', async () => {
    const bin = mkdtempSync(join(folder, 'bin-'))
    // A key of 3 bytes: no service starts with it.
    writeFileSync(join(bin, 'openssl'), '#!/bin/sh\necho AAAA\n', { mode: 0o755 })
    const file = join(folder, 'failed.json')
    const path = `${bin}:${process.env.PATH}`
    const { status, stdout, left } = await drill(['rotation', '--patterns', '60', '--json', file], { PATH: path })
    expect({ status, left }).toEqual({ status: 1, left: [] })
    expect(stdout).toMatch(/ FAILED +bin\/start\.mjs ended before it served/)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ ok: false })
  })
})
