import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { backupScripts, rotationCommands } from '../../bench/drill/documented.js'
import { endOf, stepsInto, summaryOf } from '../../bench/drill/steps.js'
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
    expect((await drill([])).stdout).toMatch(/^ {2}backup .*\n {2}restore .*\n {2}rotation /m)
    expect(await drill(['flood'])).toMatchObject({ status: 2, stderr: expect.stringContaining('"flood"') })
    for (const name of ['backup', 'restore', 'rotation']) {
      const { status, stdout } = await drill([name, '--help'])
      expect({ name, status }).toEqual({ name, status: 0 })
      expect(stdout).toContain(`npm run drill -- ${name}`)
    }
  })

  it('takes its commands from the documents', () => {
    expect(backupScripts()).toEqual({
      dump: expect.stringMatching(/^pg_dump [\s\S]*--role=keystride_backup[\s\S]*keystride\.dump\n$/),
      verify: 'keystride backup verify keystride.dump\n',
      restore: expect.stringMatching(/^createdb [\s\S]*\npg_restore .*keystride\.dump\n[^\n]*keystride migrate\n$/),
    })
    expect(rotationCommands()).toEqual({
      create: 'openssl rand -base64 32',
      rotate: 'keystride key rotate',
      status: 'keystride key status',
    })
  })

  it('notes a step that fails, and passes its error on', async () => {
    const steps: Parameters<typeof stepsInto>[0] = []
    const said: string[] = []
    const step = stepsInto(steps, (line) => said.push(line))
    expect(await step('one', async () => ({ found: 'a file', value: 7 }))).toBe(7)
    const failing = async (): Promise<never> => {
      throw new Error('wanted 1, got 2')
    }
    await expect(step('two', failing)).rejects.toThrow('wanted 1, got 2')
    expect(steps).toMatchObject([
      { step: 'one', found: 'a file', ok: true },
      { step: 'two', found: 'wanted 1, got 2', ok: false },
    ])
    expect(said).toContainEqual(expect.stringMatching(/^ {2}FAILED: wanted 1, got 2 /))
    expect(endOf(steps, new Error('wanted 1, got 2'))).toEqual({ ok: false, error: null })
  })

  it('says why it ended between two steps', () => {
    const steps = [{ step: 'one', seconds: 1, found: 'a file', ok: true }]
    const end = endOf(steps, new Error('the server did not start'))
    expect(summaryOf({ drill: 'restore', ...end, steps })).toMatch(
      /\n\nrestore: NOT as wanted: the server did not start\n$/,
    )
    expect(end.ok).toBe(false)
    expect(endOf(steps, null)).toEqual({ ok: true, error: null })
  })
})

describe.skipIf(why !== null)('a drill', { timeout: 240_000 }, () => {
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
    for (const step of report.steps) expect(step).toMatchObject({ ok: true, seconds: expect.any(Number) })
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
