/** The page for trying the product. */
import type { PatternsSoFar, TryPageData } from './page-data.js'
import { answerOf, at, filled, language, onPattern, type TypingPattern, typing, waitOf, whenText } from './typing.js'

interface Refused {
  readonly success: boolean
  readonly reason?: string
  readonly message: string
}
/** Words to type, and the key of the call that sends them. */
interface Words extends Refused, Pick<PatternsSoFar, 'suggestedWords' | 'suggestedWordsLanguage'> {
  readonly key: string
}
interface Step extends Words, PatternsSoFar {
  readonly enrolled: boolean
}
interface Pair {
  readonly pair: string
  readonly spokeFor: number
  readonly expectedMs: number
  readonly observedMs: number
}
interface Verdict extends Words {
  readonly confidence: number | null
  readonly recommendedAction: 'auth' | 'challenge' | 'block'
  readonly reason: string
  readonly waitS: number
  readonly explanation: { readonly pairs: readonly Pair[] } | null
}

/** Most bars for the person, and most bars against: people do not read a longer list. */
const PAIRS_SHOWN = 6

const { typing: texts, trying } = JSON.parse(at('main').dataset.page ?? '') as TryPageData // Sound: the service writes it.
let key = ''
let enrolled = false
let friendTypes = false

onPattern(
  (pattern) => (enrolled ? verify(pattern) : enroll(pattern)),
  () => stop(texts.trouble),
)

/** Null after a refusal or a failure, which the page then shows. */
async function ask<A extends Refused & { readonly key?: string }>(name: string, body = ''): Promise<A | null> {
  try {
    const headers = { 'content-type': 'application/json', 'x-try-key': key }
    const response = await fetch(`try/${name}?language=${language}`, {
      method: 'POST',
      headers,
      body: body === '' ? null : body,
    })
    const answer = await answerOf<A>(response)
    if (answer?.success) {
      key = answer.key ?? key
      return answer
    }
    if (response.status === 429) stop(filled(texts.wait, { when: whenText(waitOf(response)) }))
    else if (answer !== null && response.status === 422) await again(answer)
    else stop(texts.trouble)
  } catch {
    stop(texts.trouble)
  }
  return null
}

/** Shows the words of the present session after another text was typed or the session has ended. */
async function again({ reason = '' }: Refused): Promise<void> {
  const words = reason === 'invalid-data' ? await ask<Words>('words') : null
  if (words !== null) typing.show(words.suggestedWords, words.suggestedWordsLanguage)
  typing.again(reason)
}

function stop(text: string): void {
  at('work').hidden = true
  at('stopped').hidden = false
  at('why').textContent = text
  at('why').focus()
}

function progress({ nPatterns, targetPatterns, suggestedWords, suggestedWordsLanguage }: PatternsSoFar): void {
  typing.setAttribute('done', String(nPatterns))
  typing.setAttribute('target', String(targetPatterns))
  typing.show(suggestedWords, suggestedWordsLanguage)
}

async function enroll(pattern: TypingPattern): Promise<void> {
  const step = await ask<Step>('typing-patterns', JSON.stringify(pattern))
  if (step === null) return
  enrolled = step.enrolled
  if (!enrolled) {
    progress(step)
    typing.say(texts.saved)
    return
  }
  typing.removeAttribute('target')
  at('turn').hidden = false
  typing.show(step.suggestedWords, step.suggestedWordsLanguage)
  takeTurn(false)
  typing.say(trying.complete)
}

async function verify(pattern: TypingPattern): Promise<void> {
  const verdict = await ask<Verdict>('verify', JSON.stringify(pattern))
  if (verdict === null) return
  typing.show(verdict.suggestedWords, verdict.suggestedWordsLanguage)
  typing.say('')
  show(verdict)
}

function takeTurn(friend: boolean): void {
  friendTypes = friend
  at('turn').textContent = friend ? trying.friendsTurn : trying.yourTurn
  at('work').hidden = false
  typing.focus()
}

function show(verdict: Verdict): void {
  at('work').hidden = true
  at('result').hidden = false
  const [title, said] = wordsFor(verdict)
  at('verdict').textContent = title
  at('said').textContent = said
  const percent = Math.round(100 * (verdict.confidence ?? 0))
  at('meter').hidden = at('scale').hidden = verdict.confidence === null
  at('level').style.setProperty('--level', `${percent}%`)
  showPairs(verdict.explanation?.pairs ?? [])
  const tried = document.createElement('li')
  const result = verdict.confidence === null ? trying.notScored : `${percent} %`
  tried.textContent = filled(friendTypes ? trying.friendTried : trying.youTried, { result })
  at('tries').append(tried)
  at('history').hidden = false
  at('verdict').focus()
}

function wordsFor({ confidence, recommendedAction, reason, waitS }: Verdict): [string, string] {
  if (confidence === null) return [trying.locked.title, filled(trying.locked.text, { seconds: waitS })]
  if (reason === 'detection-bot') return [trying.machine.title, trying.machine.text]
  if (reason === 'fraud-detected') return [trying.replay.title, trying.replay.text]
  const sure = filled(trying.confidence, { percent: Math.round(100 * confidence) })
  if (recommendedAction === 'auth') return [trying.recognized, sure]
  return recommendedAction === 'challenge'
    ? [trying.unsure, filled(trying.unsureHelp, { confidence: sure })]
    : [trying.rejected, sure]
}

function showPairs(pairs: readonly Pair[]): void {
  const strongest = [...pairs.slice(0, PAIRS_SHOWN), ...pairs.slice(PAIRS_SHOWN).slice(-PAIRS_SHOWN)]
  const most = Math.max(0.01, ...strongest.map(({ spokeFor }) => Math.abs(spokeFor)))
  at('pairs').hidden = strongest.length === 0
  at('rows').replaceChildren(...strongest.map((pair) => row(pair, most)))
}

function row({ pair, spokeFor, expectedMs, observedMs }: Pair, most: number): HTMLElement {
  const line = document.createElement('tr')
  const head = document.createElement('th')
  head.scope = 'row'
  head.textContent = pair
  head.translate = false
  const bar = document.createElement('span')
  bar.className = spokeFor >= 0 ? 'bar for' : 'bar against'
  bar.style.setProperty('--share', String(Math.abs(spokeFor) / most))
  const weight = document.createElement('span')
  weight.className = 'heard'
  weight.textContent = filled(spokeFor >= 0 ? trying.spokeFor : trying.spokeAgainst, { weight: spokeFor.toFixed(1) })
  const cells = [[bar, weight], [`${Math.round(expectedMs)} ms`], [`${Math.round(observedMs)} ms`]].map((content) => {
    const cell = document.createElement('td')
    cell.append(...content)
    return cell
  })
  line.append(head, ...cells)
  return line
}

async function begin(): Promise<void> {
  const begun = await ask<Step>('begin')
  if (begun === null) return
  at('forget').hidden = false
  at('work').hidden = false
  progress(begun)
  typing.focus()
}

at('me').addEventListener('click', () => takeTurn(false))
at('friend').addEventListener('click', () => takeTurn(true))
at('retry').addEventListener('click', () => location.reload())
at('forget').addEventListener('click', async () => {
  if ((await ask('forget')) !== null) location.reload()
})
at('needs').remove()
await begin()
