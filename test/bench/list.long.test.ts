import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const file = fileURLToPath(new URL('../../bin/bench.mjs', import.meta.url))
const bench = (...args: string[]) => promisify(execFile)(process.execPath, [file, ...args])
const listed = async () => [...(await bench()).stdout.matchAll(/^ {2}(\S+) {2,}(.+\?)$/gm)].map(([, name = '']) => name)

describe('npm run bench', () => {
  it('lists the benches by the question that each answers', async () => {
    expect(await listed()).toEqual(expect.arrayContaining(['load', 'ratio', 'micro', 'accuracy']))
  })

  it('prints the help of every bench, and measures nothing', { timeout: 120_000 }, async () => {
    const names = await listed()
    expect(names.length).toBeGreaterThan(8)
    for (const name of names) {
      const { stdout } = await bench(name, '--help')
      expect(stdout, name).toContain(`npm run bench -- ${name}`)
    }
  })

  it('names an unknown bench in its message, with status 2', async () => {
    await expect(bench('score')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('"score"') })
  })
})
