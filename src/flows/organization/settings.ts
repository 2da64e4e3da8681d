import type { Account } from '../../domain/account.js'
import type { Organization } from '../../domain/organization.js'
import { wordPools } from '../../domain/own-words.js'
import { Refusal } from '../../domain/refusal.js'
import { CORE_POOLS, type WordPools } from '../../domain/typing-words.js'
import type { OrganizationStore, StoredPolicy } from '../../storage/organization.js'
import type { PolicyRecord, PolicyStore } from '../../storage/policies.js'
import type { TypingWordStore } from '../../storage/typing-words.js'
import { createTtlCache } from '../process/ttl-cache.js'

/** Settings of an organization that every call needs. */
export interface Settings {
  readonly organization: Organization
  /** The active policy: the default, or after `settingsFor` the policy of the account's groups. */
  readonly policy: StoredPolicy
  /** Policies with groups, oldest first. */
  readonly assigned: readonly PolicyRecord[]
  /** A second policy whose verdicts are only counted; null if none. */
  readonly shadow: StoredPolicy | null
  /** The pools of suggested words. */
  readonly words: WordPools
}

interface Needs {
  readonly organizations: Pick<OrganizationStore, 'find'>
  readonly policies: Pick<PolicyStore, 'list'>
  readonly typingWords: Pick<TypingWordStore, 'list'>
  /** A clock that never jumps. */
  readonly monotonicMs: () => number
}

export interface SettingsMemory {
  /** An organization's settings, at most a second old. */
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  /** Call after a change, so that this process sees it at once. */
  readonly forgetSettings: (organizationId: string) => Promise<void>
}

/** A changed setting is effective everywhere within this time. */
const KEPT_MS = 1000
/** Most organizations with own words whose pools are cached: half a megabyte each for 7 x 1,000 own words. */
const WORDS_ENTRIES_MAX = 200

/** Reads organizations' settings and caches them for a second; caches their words until they change. */
export function createSettings({ organizations, policies, typingWords, monotonicMs }: Needs): SettingsMemory {
  const wordsOf = createWordsCache(typingWords)
  const kept = createTtlCache(
    async (organizationId) => {
      const [organization, live] = await Promise.all([
        organizations.find(organizationId),
        policies.list(organizationId, false),
      ])
      const policy = live.find(({ isDefault }) => isDefault)
      if (organization === null || policy === undefined) {
        throw new Refusal('internal', 'the organization of this key has no settings')
      }
      const assigned = live.filter(({ groups }) => groups.length > 0)
      const shadow = live.find(({ isShadow }) => isShadow) ?? null
      return { organization, policy, assigned, shadow, words: await wordsOf(organization) }
    },
    { lifetimeMs: KEPT_MS, entriesMax: 10_000, monotonicMs },
  )
  return {
    settingsOf: (organizationId) => kept.get(organizationId),
    forgetSettings: async (organizationId) => kept.forget(organizationId),
  }
}

/** The settings with the account's policy: the oldest one with a group of the account, else the default. */
export function settingsFor(settings: Settings, { groups }: Pick<Account, 'groups'>): Settings {
  const own = settings.assigned.find((policy) => policy.groups.some((group) => groups.includes(group)))
  return own === undefined ? settings : { ...settings, policy: own }
}

/** Caches an organization's words by `wordsVersion`; version 0 has no own words and is never read. */
function createWordsCache(typingWords: Needs['typingWords']): (organization: Organization) => Promise<WordPools> {
  const kept = new Map<string, { readonly version: number; readonly pools: WordPools }>()
  return async ({ id, wordsVersion }) => {
    if (wordsVersion === 0) return CORE_POOLS
    const known = kept.get(id)
    if (known?.version === wordsVersion) return known.pools
    // The words are read after the version, so they are at least as new. A change in between only costs one more read.
    const pools = wordPools(await typingWords.list(id, null))
    kept.delete(id)
    kept.set(id, { version: wordsVersion, pools })
    if (kept.size > WORDS_ENTRIES_MAX) {
      const oldest = kept.keys().next()
      if (!oldest.done) kept.delete(oldest.value)
    }
    return pools
  }
}
