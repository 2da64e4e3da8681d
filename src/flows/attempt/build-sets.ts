import { Refusal } from '../../domain/refusal.js'
import type { Kernel } from '../../scoring/kernel.js'
import { fitOfReferences } from '../../scoring/profile-template.js'
import type { AccountStore } from '../../storage/account.js'
import type { ComparisonSetStore, MemberKey } from '../../storage/comparison-set.js'
import { type ComparedWithNeeds, enrolledSet } from './compared-with.js'
import { oldestOf, sealedBase } from './comparison-set.js'

interface Needs extends Omit<ComparedWithNeeds, 'people' | 'memory' | 'comparisonSets'> {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly comparisonSets: Pick<ComparisonSetStore, 'withoutSet' | 'put'>
  /** Opens a kernel of the scorer, for one run. */
  readonly openKernel: () => Kernel
}

/** Members of one step, so that a database at some distance is not waited for after each. */
const AT_ONCE = 8

/**
 * Builds the missing comparison sets of all organizations from references, attempts and refused patterns: after a restore, a deletion
 * of old patterns, or an upgrade from a version without sets. Without this job the next sign-in of each person does it, as it does
 * for a set of an older layout. Stops after the signal.
 */
export const createSetBuilder =
  (needs: Needs) =>
  async (signal: AbortSignal): Promise<void> => {
    let kernel: Kernel | null = null
    let after: MemberKey | null = null
    do {
      const { members, last } = await needs.comparisonSets.withoutSet(after)
      for (let i = 0; i < members.length && !signal.aborted; i += AT_ONCE) {
        kernel ??= needs.openKernel()
        const opened = kernel
        await Promise.all(members.slice(i, i + AT_ONCE).map((member) => build(needs, opened, member).catch(skipped)))
      }
      after = last
    } while (after !== null && !signal.aborted)
  }

/** A member whose samples do not open has no set. The next sign-in, which needs the samples, reports the error. */
function skipped(error: unknown): void {
  if (error instanceof Refusal) throw error
}

/**
 * A member that changes meanwhile gets no set: the next sign-in builds it. A member without references, or with one that this version
 * cannot read, gets none either.
 */
async function build(
  needs: Needs,
  kernel: Kernel,
  { organizationId, userRef, memberRef }: MemberKey & { readonly userRef: string; readonly memberRef: string },
): Promise<void> {
  const who = { organizationId, userRef, memberRef }
  const found = await needs.accounts.find(organizationId, userRef, memberRef)
  if (found?.member == null) return
  const { id: memberId, generation, profileVersion, attemptsVersion } = found.member
  const { references, hasAdaptive, known } = await enrolledSet(needs, { ...found, member: found.member, who })
  const fit = fitOfReferences(
    kernel,
    references.map(({ sample }) => sample),
  )
  if (fit === null) return
  const base = await sealedBase(needs, { ...found, member: found.member, who }, { references, fit, known })
  const versions = { generation, profileVersion, attemptsVersion }
  await needs.comparisonSets.put(organizationId, {
    memberId,
    ...versions,
    hasAdaptive,
    oldestAt: oldestOf(known),
    base,
  })
}
