import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const file = fileURLToPath(new URL('../../bin/bench.mjs', import.meta.url))
const bench = (...args: string[]) => promisify(execFile)(process.execPath, [file, ...args])

it('npm run bench lists the benches by the question that each answers, prints the help of each, and refuses others', async () => {
  const names = [...(await bench()).stdout.matchAll(/^ {2}(\S+) {2,}(.+\?)$/gm)].map(([, name = '']) => name)
  expect(names).toEqual(expect.arrayContaining(['load', 'ratio', 'accuracy']))
  for (const name of names) expect((await bench(name, '--help')).stdout, name).toContain(`npm run bench -- ${name}`)
  await expect(bench('score')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('"score"') })
})

it('bench path refuses to write costs without the cost of a whole sign-in, before it measures', async () => {
  const refused = { code: 2, stdout: '', stderr: expect.stringContaining('give --signin-people above 0') }
  await expect(bench('path', '--signin-people', '0', '--costs', 'costs.json')).rejects.toMatchObject(refused)
})
