import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageRoot } from '../../src/scoring/artifacts.js'

/**
 * A worker file that wraps the shipped worker and kills it: a pattern with the tag `deed` triggers that deed when it is
 * scored. The trap is a real one in WebAssembly. The deed `exit-once` kills only the first worker.
 */
export function deadlyWorker(): string {
  const scoring = JSON.stringify(join(packageRoot(), 'build', 'src', 'scoring'))
  const file = join(mkdtempSync(join(tmpdir(), 'keystride-worker-')), 'worker.mjs')
  writeFileSync(
    file,
    `import { existsSync, writeFileSync } from 'node:fs'
const folder = ${scoring}
// (module (func (export "boom") unreachable))
const bytes = new Uint8Array([0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,7,8,1,4,98,111,111,109,0,0,10,5,1,3,0,0,11])
const { Instance, Module } = WebAssembly
let traps = 0
WebAssembly.Instance = function (module, imports) {
  const { exports } = new Instance(module, imports)
  const score = (references) => {
    if (traps-- > 0) new Instance(new Module(bytes)).exports.boom()
    return exports.score(references)
  }
  return { exports: { ...exports, score } }
}
const { default: scoreBatch } = await import(folder + '/worker.js')
const { packTasks, unpackTasks } = await import(folder + '/batch.js')
const deeds = {
  exit: () => process.exit(1),
  'exit-once': () => {
    if (existsSync(${JSON.stringify(`${file}.once`)})) return
    writeFileSync(${JSON.stringify(`${file}.once`)}, '')
    process.exit(1)
  },
  loop: () => { for (;;); },
  heap: () => { for (const kept = []; ; ) kept.push(new Array(1e5).fill({})) },
  trap: () => { traps = 2 },
  'trap-once': () => { traps = 1 },
}
export default ({ packed, progress }) =>
  unpackTasks(packed).flatMap((task, i) => {
    Atomics.store(progress, 0, i + 1)
    const deed = /"k":"deed","v":"([a-z-]+)"/.exec(Buffer.from(task.body).toString())?.[1]
    traps = 0
    deeds[deed]?.()
    const alone = scoreBatch({ packed: packTasks([task]), progress: new Int32Array(2) })
    return alone
  })
`,
  )
  return file
}
