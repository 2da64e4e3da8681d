import { expect, it } from 'vitest'
import { DEFAULT_TARGETS } from '../../src/domain/biometric-status.js'
import { createUuidV7 } from '../../src/process/new-id.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createInlineScoring } from '../../src/scoring/inline.js'
import { warmUp } from '../../src/wiring/warm-up.js'

it('the warm-up verifies made-up people as the service verifies people: most are recognized', async () => {
  const scoring = await createInlineScoring({ wasmFile: wasmFile(), modelFile: modelFile() })
  try {
    let scored = 0
    const counting = {
      ...scoring,
      score: (task: Parameters<typeof scoring.score>[0]) => {
        scored += 1
        return scoring.score(task)
      },
    }
    const recognized = await warmUp({
      config: { targets: DEFAULT_TARGETS, replay: 'reject', contextIndicators: [] },
      scoring: counting,
      geography: { look: () => ({ network: null, place: null, anonymizer: null }) },
      newId: createUuidV7(Date.now),
      now: Date.now,
    })
    // Eight people: five references each, then eight verifies each.
    expect(scored).toBe(8 * (5 + 8))
    expect(recognized).toBeGreaterThan(50)
  } finally {
    await scoring.close()
  }
})
