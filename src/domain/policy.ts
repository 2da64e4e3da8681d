import { z } from 'zod'
import { SIGNAL_WEIGHTS } from './context/context.js'
import { CONTEXT_INDICATORS, type ContextIndicator } from './context/signal.js'

const WORDS_RULES = ['suggest', 'require'] as const
export const PRIORITIES = ['security', 'balanced', 'usability'] as const

const Weight = z.number().min(0).max(100)

const knownSignals = (indicator: ContextIndicator, signals: Readonly<Record<string, number>>): boolean =>
  Object.keys(signals).every((signal) => Object.hasOwn(SIGNAL_WEIGHTS[indicator], signal))

/** Weights of context indicators and of their signals; an absent weight has its default. */
const Indicators = z
  .partialRecord(
    z.enum(CONTEXT_INDICATORS),
    z.object({ weight: Weight.optional(), signals: z.record(z.string().max(32), Weight).optional() }),
  )
  .superRefine((indicators, context) => {
    for (const indicator of CONTEXT_INDICATORS)
      if (!knownSignals(indicator, indicators[indicator]?.signals ?? {}))
        context.addIssue({
          code: 'custom',
          path: [indicator, 'signals'],
          message: `must have no other keys than ${Object.keys(SIGNAL_WEIGHTS[indicator]).join(', ')}`,
        })
  })

/** An organization's rules for turning scores into decisions (interface, Dashboard objects). */
export const Policy = z.object({
  name: z.string().min(1).max(100),
  decision_threshold: z.number().min(0.01).max(0.99),
  contextual_influence: z.number().min(0).max(0.5),
  priority: z.enum(PRIORITIES),
  indicators: Indicators.default({}),
  on_suspicion: z
    .enum(['block', 'challenge'])
    .default('block')
    .describe(
      'The recommendation on a copy or a forgery whose typing would otherwise be accepted or challenged. A pattern with the very times of a known one is `block` in any case.',
    ),
  words: z
    .enum(WORDS_RULES)
    .default('suggest')
    .describe(
      'With suggest, any text may be typed, and `typed_words` of an authentication says which was. With require, a pattern that does not type the words of its session is 422 and not judged; the mode must be visible.',
    ),
  enrollment: z
    .object({ minHoursBetween: z.number().min(0).max(168) })
    .default({ minHoursBetween: 0 })
    .describe(
      'Hours from one reference pattern of an enrollment to the next; an earlier one gets 429. With 0, all may be typed at once. References of several days recognize a person better on other days.',
    ),
  security_code_fallback: z.object({
    enabled: z.boolean(),
    max_biometric_attempts: z.int().min(1).max(10),
    max_code_attempts: z.int().min(1).max(10),
    code_length: z.int().min(4).max(12),
    weak_codes: z.array(z.string().regex(/^\d{4,12}$/, 'must be 4 to 12 digits')).max(1000),
    require_biometric_first: z.boolean(),
  }),
})
export type Policy = z.infer<typeof Policy>

/** The policy of a new organization. */
export const DEFAULT_POLICY: Policy = {
  name: 'default',
  decision_threshold: 0.5,
  contextual_influence: 0.2,
  priority: 'balanced',
  indicators: {},
  on_suspicion: 'block',
  words: 'suggest',
  enrollment: { minHoursBetween: 0 },
  security_code_fallback: {
    enabled: true,
    max_biometric_attempts: 3,
    max_code_attempts: 3,
    code_length: 6,
    weak_codes: [],
    require_biometric_first: false,
  },
}

/** Width of the `challenge` band below the threshold. */
const CHALLENGE_BAND: Record<Policy['priority'], number> = { security: 0, balanced: 0.15, usability: 0.25 }

/** A confidence from here up to the threshold gives `challenge`. */
export const challengeFrom = ({ decision_threshold, priority }: Policy): number =>
  decision_threshold - CHALLENGE_BAND[priority]
