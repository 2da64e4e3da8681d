import type { Account } from '../../domain/account.js'
import type { Organization } from '../../domain/organization.js'
import { wordPools } from '../../domain/own-words.js'
import { Refusal } from '../../domain/refusal.js'
import { CORE_POOLS, type WordPools } from '../../domain/typing-words.js'
import type { OrganizationStore, StoredPolicy } from '../../storage/organization.js'
import type { PolicyRecord, PolicyStore } from '../../storage/policies.js'
import type { TypingWordStore } from '../../storage/typing-words.js'
import { remember } from '../process/ttl-cache.js'

/** What every call of an organization rests on. */
export interface Settings {
  readonly organization: Organization
  /** What judges: the default, or, after `settingsFor`, the one of the account's groups. */
  readonly policy: StoredPolicy
  /** Those with groups, oldest first. */
  readonly assigned: readonly PolicyRecord[]
  /** Judges beside it, and is only counted; null where there is none. */
  readonly shadow: StoredPolicy | null
  /** What suggested words are drawn from. */
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
  /** To be called by whoever changed a setting: this process then sees the change at once. */
  readonly forgetSettings: (organizationId: string) => Promise<void>
}

/** A changed setting holds everywhere within this time. */
const KEPT_MS = 1000
/** Organizations with words of their own whose words are kept: at 7 x 1,000 own words one takes half a megabyte. */
const WORDS_ENTRIES_MAX = 200

/** Reads organizations' settings, kept for a second in this process; their words for as long as nobody changes them. */
export function createSettings({ organizations, policies, typingWords, monotonicMs }: Needs): SettingsMemory {
  const wordsOf = rememberWords(typingWords)
  const kept = remember(
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

/** The settings with the policy that judges this account: the oldest one with a group of it, else the default. */
export function settingsFor(settings: Settings, { groups }: Pick<Account, 'groups'>): Settings {
  const own = settings.assigned.find((policy) => policy.groups.some((group) => groups.includes(group)))
  return own === undefined ? settings : { ...settings, policy: own }
}

/** Reads an organization's words again only where its `wordsVersion` has moved; never where it changed none. */
function rememberWords(typingWords: Needs['typingWords']): (organization: Organization) => Promise<WordPools> {
  const kept = new Map<string, { readonly version: number; readonly pools: WordPools }>()
  return async ({ id, wordsVersion }) => {
    if (wordsVersion === 0) return CORE_POOLS
    const known = kept.get(id)
    if (known?.version === wordsVersion) return known.pools
    // Read after the version, so at least as new: a change in between only makes the next look read once more.
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
