import { type RefusedPatternNeeds, rememberingRefused } from '../flows/attempt/refused-patterns.js'
import { createVerify, type VerifyFlow } from '../flows/attempt/verify.js'
import { createLegacyLink, type LegacyLinkFlows } from '../flows/legacy/legacy-link.js'
import { createLegacyVerify, type LegacyVerifyFlow } from '../flows/legacy/legacy-verify.js'
import { createEnroll, type EnrollFlow } from '../flows/profile/enroll.js'
import { createLinkPage, type LinkPageFlows } from '../flows/profile/link-page.js'

type Needs = RefusedPatternNeeds &
  Parameters<typeof createVerify>[0] &
  Parameters<typeof createEnroll>[0] &
  Parameters<typeof createLinkPage>[0] &
  Omit<Parameters<typeof createLegacyVerify>[0], 'enroll' | 'verify'>

interface PatternFlows {
  readonly verify: VerifyFlow
  readonly enroll: EnrollFlow
  readonly linkPage: LinkPageFlows
  readonly legacyVerify: LegacyVerifyFlow
  readonly legacyLink: LegacyLinkFlows
}

/** The flows that take typing patterns. Those inside another flow remember no refused pattern: the outer one does. */
export function createPatternFlows(needs: Needs): PatternFlows {
  const enroll = createEnroll(needs)
  const verify = createVerify(needs)
  const legacyVerify = createLegacyVerify({ ...needs, enroll, verify })
  const legacyLink = createLegacyLink({ ...needs, enroll })
  return {
    verify: (who, token, input, hints) =>
      rememberingRefused(needs, { who, token, input }, verify(who, token, input, hints)),
    enroll: (who, token, input, hints) =>
      rememberingRefused(needs, { who, token, input }, enroll(who, token, input, hints)),
    linkPage: createLinkPage(needs),
    legacyVerify: (call) => rememberingRefused(needs, call, legacyVerify(call)),
    legacyLink: {
      ...legacyLink,
      link: (who, token, input) => rememberingRefused(needs, { who, token, input }, legacyLink.link(who, token, input)),
    },
  }
}
