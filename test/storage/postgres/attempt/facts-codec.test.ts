import { describe, expect, it } from 'vitest'
import type { AttemptFacts } from '../../../../src/domain/attempt-facts.js'
import { fromFactsText, toFactsText } from '../../../../src/storage/postgres/attempt/facts-codec.js'

const network: AttemptFacts['indicators'][number] = {
  ...{ indicator: 'network', weight: 2, score: 0.5 },
  signals: [
    { signal: 'address', value: '203.0.113.7', reference: null, weight: 1, computedOutcome: 0 },
    { signal: 'asn', value: null, reference: 64500, weight: 3, computedOutcome: null },
    { signal: 'anonymizer', value: null, reference: null, weight: 3, computedOutcome: null },
  ],
}
const facts: AttemptFacts = {
  ...{ ip: '203.0.113.7', network: null, anonymizer: null, place: null, device: null, application: 'test' },
  tags: [{ k: 'app', v: 'test' }],
  indicators: [network, { indicator: 'time', weight: 1, score: null, signals: [] }],
  ...{ botLikelihood: 0.25, confidenceEnrolled: 0.75, confidenceAdapted: null, contextKnown: true, shadow: null },
  ...{ copyOf: null, replayRejected: false, editedCopyRejected: false, impossibleTravel: false, bot: false },
  ...{ replay: false, mode: 'visible', references: ['a'], adaptive: [] },
}

describe('stored facts', () => {
  it('are read back unchanged, including signals without values', () => {
    expect(fromFactsText(toFactsText(facts))).toEqual(facts)
  })

  it('are read from former rows, in which each signal is a list', () => {
    const former = [
      [
        'network',
        2,
        0.5,
        [
          ['address', 1, 0, '203.0.113.7', null],
          ['asn', 3, null, null, 64500],
          ['anonymizer', 3],
        ],
      ],
      ['time', 1, null, []],
    ]
    expect(fromFactsText(JSON.stringify({ ...facts, indicators: former }))).toEqual(facts)
  })
})
