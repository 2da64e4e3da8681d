import { z } from 'zod'

export const PRIORITIES = ['security', 'balanced', 'usability'] as const

/** How an organization turns scores into decisions (interface, Dashboard objects; decisions on verify). */
export const Policy = z.object({
  name: z.string().min(1).max(100),
  decision_threshold: z.number().min(0.01).max(0.99),
  contextual_influence: z.number().min(0).max(0.5),
  priority: z.enum(PRIORITIES),
  security_code_fallback: z.object({
    enabled: z.boolean(),
    max_biometric_attempts: z.int().min(1).max(10),
    max_code_attempts: z.int().min(1).max(10),
    code_length: z.int().min(4).max(12),
    weak_codes: z.array(z.string().regex(/^\d{4,12}$/)).max(1000),
    require_biometric_first: z.boolean(),
  }),
})
export type Policy = z.infer<typeof Policy>

/** What an organization starts with. */
export const DEFAULT_POLICY: Policy = {
  name: 'default',
  decision_threshold: 0.5,
  contextual_influence: 0.2,
  priority: 'balanced',
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
export const CHALLENGE_BAND: Record<Policy['priority'], number> = { security: 0, balanced: 0.15, usability: 0.25 }
