import { describe, expect, it } from 'vitest'
import { type SsoBody, ssoPage } from '../../src/web/sso-page.js'

const pageWith = (body: SsoBody) =>
  ssoPage({
    language: 'en',
    application: 'Payroll',
    heading: 'password',
    note: { code: 103, text: 'Wrong.' },
    body,
    mayCancel: true,
  })
const password = pageWith({ kind: 'password', sentTo: 'a•••@example.org', purpose: 'enroll', maySend: true })
const code = pageWith({ kind: 'code', length: 8 })

describe('a page of single sign-on', () => {
  it('accepts a code as it was pasted, in the digits of every script, if it has the right number of them', () => {
    for (const [page, right, wrong] of [
      [
        password,
        ['123456', '123 456', '12-34-56.', '\u200b1 2 3 4 5 6\u200b', '١٢٣٤٥٦', '１２３ ４５６'],
        ['12345', '1234567'],
      ],
      [code, ['12345678', '1234 5678', '१२३४५६७८'], ['1234567', 'secretly']],
    ] as const) {
      const [, maxlength = 0, pattern = ''] =
        /inputmode="numeric"[^>]* maxlength="(\d+)" pattern="([^"]+)"/.exec(page) ?? []
      const whole = new RegExp(`^(?:${pattern})$`, 'u')
      for (const text of right)
        expect([text, whole.test(text), text.length <= Number(maxlength)]).toEqual([text, true, true])
      for (const text of wrong) expect([text, whole.test(text)]).toEqual([text, false])
    }
  })

  it('keeps addresses, names and codes out of the translation by a browser', () => {
    expect(password).toMatch(/Sent to\s+<span translate="no">a•••@example\.org<\/span>\. The digits/)
    for (const part of ['<small translate="no">(103)</small>', '<p class="who" translate="no">Payroll</p>'])
      expect(password).toContain(part)
  })
})
