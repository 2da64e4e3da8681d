import { expect, it } from 'vitest'
import { DEFAULT_TARGETS } from '../../src/domain/biometric-status.js'
import { createUuidV7 } from '../../src/process/new-id.js'
import { warmUp } from '../../src/wiring/warm-up.js'
import { startFlows } from '../flows/real-flows.js'

const config = { targets: DEFAULT_TARGETS, replay: 'reject' as const, contextIndicators: [] }
const newId = createUuidV7(Date.now)

const flows = await startFlows()

it('the warm-up scores and recognizes made-up people, and stores nothing', async () => {
  const { scoring } = flows.needs
  let scored = 0
  let recorded = 0
  const recognized = await warmUp({
    config,
    newId,
    now: Date.now,
    scoring: {
      ...scoring,
      score(task) {
        scored += 1
        return scoring.score(task)
      },
    },
    stores: {
      ...flows.stores,
      authentications: {
        ...flows.stores.authentications,
        async record(organizationId, attempt) {
          recorded += 1
          const outcome = await flows.stores.authentications.record(organizationId, attempt)
          expect(outcome).toBe('absent')
          return outcome
        },
      },
    },
  })
  // Eight people: five references each, then eight verifies each.
  expect({ scored, recorded }).toEqual({ scored: 8 * (5 + 8), recorded: 8 * 8 })
  expect(recognized).toBeGreaterThan(50)
})

it('the warm-up rejects if a store does not answer', async () => {
  const accounts = {
    ...flows.stores.accounts,
    find: async () => {
      throw new Error('away')
    },
  }
  const needs = { config, newId, now: Date.now, scoring: flows.needs.scoring, stores: { ...flows.stores, accounts } }
  await expect(warmUp(needs)).rejects.toThrow('away')
})
