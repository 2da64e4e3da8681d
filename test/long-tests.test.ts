import { describe, expect, it } from 'vitest'
import { LAYERS } from './layers.js'
import { longTests } from './long-tests.js'

const FILES = [
  'test/harness/service.ts',
  'test/domain/policy.test.ts',
  'test/api/verify.long.test.ts',
  'test/cli/doctor.long.test.ts',
  'test/http/server.long.test.ts',
  'test/console/pages.long.test.ts',
  'test/faults/a.long.test.ts',
  'test/faults/b.long.test.ts',
  'test/faults/c.long.test.ts',
  'test/recorder/recorder.long.test.ts',
]
const choose = (changed: readonly string[], commits = 0) =>
  longTests({ files: FILES, changed, commits, layers: LAYERS })

describe('the long tests of a run', () => {
  it('are each run once in three commits if nothing changes', () => {
    const turns = [0, 1, 2].flatMap((commits) => choose([], commits).chosen)
    expect(turns.sort()).toEqual(FILES.filter((file) => file.includes('.long.')).sort())
    const { chosen, left } = choose([], 7)
    expect([...chosen, ...left].sort()).toEqual(turns.sort())
  })

  it.each([
    ['of the folder of a changed test', 'test/faults/a.long.test.ts', ['faults']],
    ['of a changed layer and of those that import it', 'src/http/server.ts', ['api', 'http']],
    ['of the recorder and the pages with a changed recorder', 'packages/recorder/src/recorder.ts', ['recorder']],
    ['with a changed harness', 'test/harness/patience.ts', ['api', 'cli', 'console', 'faults', 'http', 'recorder']],
    ['of no folder with a changed page of docs', 'docs/accuracy.md', []],
  ])('are all those %s', (_, changed, folders) => {
    const { chosen, folders: found } = choose([changed])
    expect(found).toEqual(folders)
    const wanted = FILES.filter((file) => folders.some((folder) => file.startsWith(`test/${folder}/`)))
    expect(chosen).toEqual(expect.arrayContaining(wanted))
  })
})
