import type { ComponentChildren } from 'preact'
import type { Outcome } from '../authentications.js'
import { t } from '../texts.js'

interface BadgeNeeds {
  readonly tone?: 'good' | 'warn' | 'bad' | 'plain'
  readonly children: ComponentChildren
}

/** A state in one or two words. */
export const Badge = ({ tone = 'plain', children }: BadgeNeeds) => <span class={`badge ${tone}`}>{children}</span>

const TONES = { auth: 'good', challenge: 'warn', block: 'bad' } as const

export const OutcomeBadge = ({ outcome }: { readonly outcome: Outcome }) => (
  <Badge tone={TONES[outcome]}>{t.outcome[outcome]}</Badge>
)
