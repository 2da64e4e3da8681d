import { describe, expect, it } from 'vitest'
import { type AccountChange, type People, peopleMove } from '../../src/domain/account-change.js'

/** The move of people, or the kind of the refusal. */
function outcome(account: People, change: AccountChange): unknown {
  try {
    return peopleMove(account, change)
  } catch (error) {
    return (error as { kind: string }).kind
  }
}

const ACCOUNTS: readonly People[] = [
  { userRef: 'desk', type: 'nominative', memberRefs: ['desk'] },
  ...[[], ['ann'], ['desk'], ['ann', 'bob']].map(
    (memberRefs): People => ({ userRef: 'desk', type: 'generic', memberRefs }),
  ),
]
const CHANGES: readonly AccountChange[] = [undefined, 'nominative' as const, 'generic' as const].flatMap((type) =>
  [undefined, 'desk', 'ann', 'cy'].map((memberRef) => ({ type, memberRef })),
)

/** The rule: a person is only added by name, the type changes only on request, and no person is lost or renamed silently. */
function expected({ type: from, memberRefs }: People, { type, memberRef }: AccountChange): unknown {
  const namesAnother = memberRef !== undefined && memberRef !== 'desk'
  if (from === 'nominative' && type === 'generic')
    return namesAnother ? { kind: 'to-generic', memberRef } : 'account-type'
  if (from === 'nominative' && namesAnother) return type === undefined ? 'account-type' : 'member-mismatch'
  if (from === 'nominative') return { kind: 'none' }
  if (type === 'nominative' && memberRefs.length > 1) return 'account-type'
  if (type === 'nominative') return namesAnother ? 'member-mismatch' : { kind: 'to-nominative' }
  if (memberRef === undefined) return { kind: 'none' }
  return memberRefs.includes(memberRef) ? 'member-exists' : { kind: 'add', memberRef }
}

describe('a change of an account', () => {
  it.each(ACCOUNTS)('moves people or refuses by the rule, for every change of $type $memberRefs', (account) => {
    for (const change of CHANGES)
      expect([change, outcome(account, change)]).toEqual([change, expected(account, change)])
  })
})
