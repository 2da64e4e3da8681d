import { type Asking, type AskingNeeds, type Member, type Visit, words } from './asking.js'
import { patternBody } from './pattern-body.js'

/** Most patterns of one enrollment: some are refused as a machine or a replay, and the person types again. */
const TRIES = 40

/** Creates and deletes people: those enrolled before a run, and those that join during it. */
export function enrolling(
  { client, crowd, codes }: AskingNeeds,
  { random, count, sound, ask, path, bootstrap }: Asking,
) {
  return {
    /** Creates an account, enrolls its person and sets a code for some. Returns null on failure. */
    async enroll(index: number, userRef: string, visit: Visit): Promise<Member | null> {
      const ip = `203.0.113.${1 + (index % 254)}`
      const member: Member = {
        userRef,
        typist: crowd.typist(index),
        ip,
        code: null,
        typed: 0,
        busy: false,
        lockedUntil: 0,
      }
      const created = await ask(visit, {
        operation: 'create',
        method: 'POST',
        path: path(member),
        wanted: [200, 201],
      })
      if (created === null || !created.ok) return null
      const now = () => ({ ...visit, intended: performance.now() })
      const begun = await bootstrap(member, now())
      if (begun === null) return null
      const { session } = begun
      let typed = words(begun.json)
      for (let tries = 0, stored = 0; stored < Number(begun.json.targetRefPatterns ?? 5); tries++) {
        if (tries === TRIES) return null
        const body = patternBody(member.typist.enrolls(typed, member.typed++), Date.now(), ip)
        const typing = {
          operation: 'enroll',
          method: 'POST',
          path: `${path(member)}/typing-patterns`,
          session,
          body,
        } as const
        const answer = await ask(now(), { ...typing, wanted: [200, 422] })
        if (answer === null || !answer.ok) return null
        if (answer.status === 200) stored++
        else if (answer.json.reason === 'detection-bot') count(visit, 'enrolling_called_bots')
        else if (answer.json.reason === 'fraud-detected') count(visit, 'enrolling_called_replays')
        else if (!sound(visit, 'enroll', { [`refused: ${answer.json.reason}`]: true })) return null
        if (words(answer.json).length > 0) typed = words(answer.json)
      }
      count(visit, 'people_enrolled')
      if (random() < codes) await setCode(member, now(), session, Number(begun.json.codeLength ?? 6))
      return member
    },

    remove: (member: Member, visit: Visit) =>
      client.ask({ ...visit, operation: 'remove', method: 'DELETE', path: path(member), wanted: [200, 404] }),
  }

  /** Sets a security code. A weak one is refused with 422; then another is drawn. */
  async function setCode(member: Member, visit: Visit, session: string, length: number): Promise<void> {
    for (let tries = 0; tries < TRIES && member.code === null; tries++) {
      const securityCode = Array.from({ length }, () => Math.floor(random() * 10)).join('')
      const setting = { operation: 'set-code', method: 'PUT', path: `${path(member)}/security-code`, session } as const
      const now = { ...visit, intended: performance.now() }
      const answer = await ask(now, { ...setting, body: JSON.stringify({ securityCode }), wanted: [200, 422] })
      if (answer === null || !answer.ok) return
      if (answer.status === 200) member.code = securityCode
    }
  }
}
