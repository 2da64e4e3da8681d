import type { Member } from '../../domain/account.js'
import type { ModeInputs, SessionUse } from '../../domain/attempts.js'
import { biometricStatus, canVerify, type ProfileTargets } from '../../domain/biometric-status.js'
import { codeUsable } from '../../domain/security-code.js'
import type { Settings } from '../organization/settings.js'

/** The clock, epoch ms, and the number of references that complete a profile. */
export interface ModeNeeds {
  readonly targets: ProfileTargets
  readonly now: () => number
}

/** The facts that decide which kinds of attempt are open to a member in a session. */
export function modeInputs(
  { targets, now }: ModeNeeds,
  { member, settings, used }: { readonly member: Member; readonly settings: Settings; readonly used: SessionUse },
): ModeInputs & { readonly codeSet: boolean } {
  const at = now()
  return {
    policy: settings.policy.policy,
    session: used,
    counters: member.attempts,
    profileReady: canVerify(biometricStatus(member, targets, at)),
    codeUsable: codeUsable(member.code, at),
    codeSet: member.code.set,
    now: at,
  }
}
