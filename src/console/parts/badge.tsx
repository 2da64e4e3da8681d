import type { ComponentChildren } from 'preact'

interface BadgeNeeds {
  readonly tone?: 'good' | 'warn' | 'bad' | 'plain'
  readonly children: ComponentChildren
}

/** A state in one or two words. */
export const Badge = ({ tone = 'plain', children }: BadgeNeeds) => <span class={`badge ${tone}`}>{children}</span>
