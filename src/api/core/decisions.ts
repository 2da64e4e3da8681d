import type { Outcomes } from '../../http/route.js'

/** Actions of a customer's server on a verify answer (interface, Verify rules 2 to 4). The file docs/integrate.md has the same table. */
export const verifyOutcomes: Outcomes = {
  lead: 'Read the answer of verify from top to bottom; the first row that fits decides.',
  heads: ['answer of verify', 'your server'],
  rows: [
    [
      '`enrollmentRequired` is true',
      'issues no login, whatever `authenticated` says, and sends the user through enrollment',
    ],
    ['`recommendedAction` is `auth`, `authMethod` is `biometric`', 'signs the user in'],
    [
      '`recommendedAction` is `auth`, `authMethod` is `security_code`',
      'treats the login as challenged: the code matched, but no typing was checked',
    ],
    ['`recommendedAction` is `challenge`', 'issues no login; asks for what `nextAttempt.mode` names'],
    [
      '`recommendedAction` is `block`',
      'issues no login; `reason` is `detection-bot` or `fraud-detected` if one was found; asks for what `nextAttempt.mode` names',
    ],
  ],
}
