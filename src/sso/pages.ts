import { maskedAddress } from '../domain/one-time-password.js'
import { SSO_CODES, type SsoSituation } from '../domain/sso-code.js'
import { LANGUAGES, type Language, wordsLanguage } from '../domain/typing-words.js'
import { policyWithTarget } from '../web/page.js'
import { type SsoBody, type SsoView, ssoPage, ssoSaying, ssoSignOut } from '../web/sso-page.js'
import { SSO_TEXTS, TEXTS } from '../web/texts.js'
import type { PasswordPurpose, Progress, Step } from './progress.js'
import type { PageContext, ProviderPages } from './provider.js'

/** The language of a page: that of the address, otherwise that of the browser. */
export const languageOf = (asked: string | null, acceptLanguage: string | null): Language =>
  wordsLanguage({ preferred: null, asked, acceptLanguage, mode: 'auto', organizationDefault: 'en' })

/** The first language of the OpenID parameter `ui_locales` that the pages have; null if there is none. */
export const wishedLanguage = (uiLocales: unknown): Language | null =>
  typeof uiLocales === 'string'
    ? (uiLocales
        .split(' ')
        .map((tag) => tag.toLowerCase().split('-')[0])
        .find((tag): tag is Language => (LANGUAGES as readonly (string | undefined)[]).includes(tag)) ?? null)
    : null

interface Shown {
  readonly language: Language
  readonly application: string
  readonly now: number
  /** The address where a passed sign-in continues. */
  readonly onward: string
}

/** The page of a sign-in. */
export function stepPage(progress: Progress, shown: Shown): string {
  const { step } = progress
  const { language, application } = shown
  const situation = situationOf(step)
  return ssoPage({
    language,
    application,
    heading: step.kind,
    note: noteOf(step, situation, shown),
    body: bodyOf(progress, shown),
    mayCancel: step.kind !== 'passed',
  })
}

/** The page that leads back to the application without a login. */
export const onwardPage = ({ language, application, onward }: Omit<Shown, 'now'>): string =>
  ssoPage({
    language,
    application,
    heading: 'refused',
    note: null,
    body: { kind: 'onward', to: onward },
    mayCancel: false,
  })

/** The situation that led to a one-time password; null for an enrollment or a reset, which its page explains. */
const PURPOSE_SITUATIONS: Readonly<Record<PasswordPurpose, SsoSituation | null>> = {
  enroll: null,
  'step-up': 'challenged',
  reset: null,
  browser: 'strangers',
}

/** The numbered situation of a step; null if it has none. */
export function situationOf(step: Step): SsoSituation | null {
  switch (step.kind) {
    case 'refused':
    case 'trouble':
      return step.situation
    case 'name':
      return step.note
    case 'password':
      return step.note ?? PURPOSE_SITUATIONS[step.purpose]
    case 'type':
      return againSituation(step.again) ?? (step.challenged ? 'challenged' : null)
    case 'enroll':
      return againSituation(step.again)
    default:
      return null
  }
}

function againSituation(again: Extract<Step, { kind: 'type' }>['again']): SsoSituation | null {
  if (again === null) return null
  if (again === 'detection-bot') return 'robot'
  return again === 'fraud-detected' ? 'blocked' : 'invalid-pattern'
}

function noteOf(step: Step, situation: SsoSituation | null, { language, now }: Shown): SsoView['note'] {
  const { notes, locked, wait, later } = SSO_TEXTS[language]
  if (step.kind === 'later')
    return isOver(step.until, now)
      ? null
      : { code: null, text: later.replace('{when}', whenOf(step.until, now, language)) }
  const inMinutes = (text: string, until: number) =>
    text.replace('{minutes}', String(Math.max(1, Math.ceil((until - now) / 60_000))))
  const waits = step.kind === 'password' && step.waitUntil !== null ? inMinutes(wait, step.waitUntil) : ''
  const ends = step.kind === 'refused' && step.until !== null ? inMinutes(locked, Date.parse(step.until)) : ''
  const text = [situation === null ? '' : notes[situation], ends, waits].filter((one) => one !== '').join(' ')
  return text === '' ? null : { code: situation === null ? null : SSO_CODES[situation], text }
}

const isOver = (until: string, now: number): boolean => Date.parse(until) <= now

/** The time left, such as `in 20 hours`, in the words of the language. */
function whenOf(until: string, now: number, language: Language): string {
  const minutes = Math.max(1, Math.ceil((Date.parse(until) - now) / 60_000))
  const words = new Intl.RelativeTimeFormat(language)
  return minutes < 60 ? words.format(minutes, 'minute') : words.format(Math.ceil(minutes / 60), 'hour')
}

function bodyOf({ step, person }: Progress, { onward, now }: Shown): SsoBody {
  switch (step.kind) {
    case 'name':
      return { kind: 'name' }
    case 'type':
    case 'enroll':
      return {
        kind: 'typing',
        words: step.words.suggestedWords,
        wordsLanguage: step.words.suggestedWordsLanguage,
        progress: step.kind === 'enroll' ? { done: step.done, target: step.target } : null,
        again: step.again,
        offersPassword: step.kind === 'type' && step.challenged,
        codeLength: step.kind === 'type' ? step.codeLength : null,
      }
    case 'security-code':
      return { kind: 'code', length: step.length }
    case 'password':
      return {
        kind: 'password',
        sentTo: step.sent ? maskedAddress(person?.email ?? '') : null,
        purpose: step.purpose,
        maySend: step.waitUntil === null,
      }
    case 'trouble':
      return { kind: 'retry' }
    case 'later':
      return { kind: isOver(step.until, now) ? 'retry' : 'none' }
    case 'refused':
      return step.resettable ? { kind: 'reset' } : { kind: 'none' }
    case 'passed':
      return { kind: 'onward', to: onward }
  }
}

/** The page for an interaction that is over or belongs to another browser. */
export const endedPage = (language: Language): string => ssoSaying(language, SSO_TEXTS[language].ended)

/** The page while a store does not answer. */
export const unavailablePage = (language: Language): string => ssoSaying(language, TEXTS[language].unavailable)

/** The page while too many sign-ins have begun. */
export const busyPage = (language: Language): string => ssoSaying(language, SSO_TEXTS[language].busy)

/** The pages that the provider shows by itself. */
export function providerPages(headers: Readonly<Record<string, string>>): ProviderPages {
  const show = (ctx: PageContext, draw: (language: Language) => string) => {
    ctx.type = 'text/html; charset=utf-8'
    for (const [name, value] of Object.entries(headers)) ctx.set(name, value)
    ctx.body = draw(languageOf(null, ctx.get('accept-language') || null))
  }
  return {
    error: (ctx, code, description) =>
      show(ctx, (language) =>
        ssoSaying(language, { ...SSO_TEXTS[language].failed, detail: `${code}: ${description}` }),
      ),
    signOut(ctx, form, onward) {
      show(ctx, (language) => ssoSignOut(language, form))
      if (onward !== null) ctx.set('content-security-policy', policyWithTarget(onward))
    },
    signedOut: (ctx) => show(ctx, (language) => ssoSaying(language, SSO_TEXTS[language].signedOut)),
  }
}
