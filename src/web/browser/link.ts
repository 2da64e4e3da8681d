/** The hosted page of a profile link. */
import type { LinkPageData, PatternsSoFar } from './page-data.js'
import { answerOf, at, filled, language, onPattern, type TypingPattern, typing, waitOf, whenText } from './typing.js'

/** Time to read the destination before the redirect. No measurement behind it. */
const LEAVING_AFTER_MS = 4_000

interface Answer extends PatternsSoFar {
  readonly success: boolean
  readonly reason?: string
  readonly completed: boolean
  readonly retryAfterSeconds: number
  readonly redirectTo: string | null
}

const main = at('main')
const page = JSON.parse(main.dataset.page ?? '') as LinkPageData // Sound: the service writes it.
const texts = page.typing
const key = location.pathname.split('/').pop() ?? ''
/** Statuses of an ended link; the reloaded page shows that it has ended. */
const ENDED = [404, 409]
let unusable = 0

onPattern(send, () => stop(texts.trouble))

function progress({ nPatterns, targetPatterns, suggestedWords, suggestedWordsLanguage }: PatternsSoFar): void {
  typing.setAttribute('done', String(nPatterns))
  typing.setAttribute('target', String(targetPatterns))
  typing.show(suggestedWords, suggestedWordsLanguage)
}

async function send(pattern: TypingPattern): Promise<void> {
  const response = await fetch(`../typing-patterns?language=${language}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-link-key': key },
    body: JSON.stringify(pattern),
  })
  const answer = await answerOf<Answer>(response)
  if (response.status === 429) stop(filled(texts.wait, { when: whenText(waitOf(response)) }))
  else if (answer === null) stop(texts.trouble)
  else if (answer.success) {
    if (answer.completed) finish(answer.redirectTo)
    else if (answer.retryAfterSeconds > 0) stop(filled(texts.later, { when: whenText(answer.retryAfterSeconds) }))
    else {
      progress(answer)
      typing.say(texts.saved)
      typing.focus()
    }
  } else if (response.status === 422) again(answer.reason)
  else if (ENDED.includes(response.status)) location.reload()
  else stop(texts.trouble)
}

/** Asks for another pattern. After a second unusable text, reloads the page, because the service may have other words by now. */
function again(reason = ''): void {
  if (reason === 'invalid-data' && ++unusable > 1) location.reload()
  else typing.again(reason)
}

/** Stops typing. The pattern may have been stored, so it is not sent again; a retry reloads the page. */
function stop(text: string): void {
  at('work').hidden = true
  at('stopped').hidden = false
  at('why').textContent = text
  at('why').focus()
}

function finish(redirectTo: string | null): void {
  at('work').hidden = true
  at('intro').hidden = true
  at('done').hidden = false
  at('done-title').focus()
  if (redirectTo === null) return
  const { host } = new URL(redirectTo)
  at('close').textContent = filled(page.leaving, { host })
  const onward = at<HTMLAnchorElement>('onward')
  onward.href = redirectTo
  onward.textContent = filled(page.onward, { host })
  onward.hidden = false
  // Replaces the history entry: the link is used up, so the back button must not return to it.
  setTimeout(() => location.replace(redirectTo), LEAVING_AFTER_MS)
}

at('retry').addEventListener('click', () => location.reload())
at('needs').remove()
at('work').hidden = false
progress(page)
typing.focus()
