import type { Account, Member } from '../../domain/account.js'
import type { StoredComparisonSet } from '../../storage/comparison-set.js'
import type { Vault } from '../../storage/vault.js'
import type { Designation, Person } from './person.js'

/** The person and the versions of the comparison set, as JSON in the sealed part. */
interface Facts {
  readonly account: Account
  readonly member: Member
  /** Null if the person has no comparison set. */
  readonly set: (Omit<StoredComparisonSet, 'base' | 'tail'> & { readonly baseBytes: number }) | null
}

const LENGTH_BYTES = 4
const NOTHING = new Uint8Array()

/**
 * The person of a sign-in as its bootstrap has read them, for the session to carry to the verify, which any process may get: u32
 * length, the sealed facts, and base and tail of the comparison set, which are sealed already. About 10 kB with 48 known patterns.
 * Nothing depends on its age: a verdict counts only if the commit finds the member's `rowVersion` unchanged.
 */
export async function sealedPerson(
  { vault }: { readonly vault: Pick<Vault, 'sealFor'> },
  { organizationId, userRef }: Designation,
  sessionSha256: string,
  { account, member, comparisonSet = null }: Person,
): Promise<Uint8Array> {
  const isCurrent =
    comparisonSet?.generation === member.generation && comparisonSet.profileVersion === member.profileVersion
  const { base, tail, ...versions } = isCurrent ? comparisonSet : { base: NOTHING, tail: NOTHING }
  const set = isCurrent ? { ...versions, baseBytes: base.length } : null
  const facts = Buffer.from(JSON.stringify({ account, member, set }))
  const sealed = await vault.sealFor(organizationId, ['carried person', userRef, sessionSha256], facts)
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(sealed.length)
  return Buffer.concat([length, sealed, base, tail])
}

/** Opens what `sealedPerson` has made for this session. Throws if the bytes were altered or moved. */
export async function openedPerson(
  { vault }: { readonly vault: Pick<Vault, 'openFor'> },
  { organizationId, userRef }: Designation,
  sessionSha256: string,
  carried: Uint8Array,
): Promise<Person> {
  const bytes = Buffer.from(carried.buffer, carried.byteOffset, carried.length)
  const end = LENGTH_BYTES + bytes.readUInt32LE()
  const sealed = bytes.subarray(LENGTH_BYTES, end)
  const facts = await vault.openFor(organizationId, ['carried person', userRef, sessionSha256], sealed)
  // Sound: the seal proves that `sealedPerson` wrote it.
  const { account, member, set } = JSON.parse(Buffer.from(facts).toString()) as Facts
  if (set === null) return { account, member, comparisonSet: null }
  const { baseBytes, ...versions } = set
  const [base, tail] = [bytes.subarray(end, end + baseBytes), bytes.subarray(end + baseBytes)]
  return { account, member, comparisonSet: { ...versions, base, tail } }
}
