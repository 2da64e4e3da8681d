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

/**
 * The flows that take typing patterns. Each remembers a pattern that its call did not keep; the profile link's does so by
 * itself. Legacy flows are made of the others as they are, because they may verify a pattern that was not enrolled.
 */
export function createPatternFlows(needs: Needs): PatternFlows {
  const enroll = createEnroll(needs)
  const verify = createVerify(needs)
  const legacyVerify = createLegacyVerify({ ...needs, enroll, verify })
  const legacyLink = createLegacyLink({ ...needs, enroll })
  return {
    verify: (who, token, input, hints) => {
      const answer = verify(who, token, input, hints)
      if (input.kind === 'code') return answer
      return rememberingRefused(needs, { who, token, body: input.body }, answer, ({ authentication, ...person }) => ({
        kept: authentication !== null,
        person,
      }))
    },
    enroll: (who, token, body, hints) =>
      rememberingRefused(needs, { who, token, body }, enroll(who, token, body, hints), enrolled),
    linkPage: createLinkPage(needs),
    legacyVerify: (call) => {
      const { who, token, attempt } = call
      if (attempt.kind === 'code') return legacyVerify(call)
      return rememberingRefused(needs, { who, token, body: attempt.body }, legacyVerify(call), (answer) => ({
        kept: answer.authentication !== null || (answer.enrollment?.patternId ?? null) !== null,
        person: answer,
      }))
    },
    legacyLink: {
      ...legacyLink,
      link: (who, token, body) =>
        rememberingRefused(needs, { who, token, body }, legacyLink.link(who, token, body), enrolled),
    },
  }
}

const enrolled = ({
  patternId,
  ...person
}: Pick<Awaited<ReturnType<EnrollFlow>>, 'patternId' | 'account' | 'member'>) => ({
  kept: patternId !== null,
  person,
})
