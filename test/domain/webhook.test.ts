import { describe, expect, it } from 'vitest'
import { isWebhookSecret, secretsOf, signingSecrets, textOfSecrets, WebhookSecret } from '../../src/domain/webhook.js'

const secretOf = (nBytes: number) => `whsec_${Buffer.alloc(nBytes, 0xfb).toString('base64')}`

describe('a signing secret', () => {
  it('has 24 to 64 bytes', () => {
    for (let n = 0; n <= 70; n++) {
      expect([n, isWebhookSecret(secretOf(n))]).toEqual([n, n >= 24 && n <= 64])
      expect(WebhookSecret.safeParse(secretOf(n)).success).toBe(n >= 24 && n <= 64)
    }
  })

  it('is standard base64 with its prefix and padding, and no stray bits', () => {
    const good = secretOf(32)
    expect(good).toMatch(/\+.*=$/)
    for (const bad of [
      good.slice(6),
      good.replace('whsec_', 'WHSEC_'),
      good.replace('=', ''),
      `${good}=`,
      good.replace(/\+/g, '-'),
      good.replace(/.=$/, '9='),
      `${good}\n`,
      ` ${good}`,
      good.replace('+', ' '),
      '',
    ])
      expect([bad, isWebhookSecret(bad)]).toEqual([bad, false])
  })

  it('is stored with the previous one, which signs until its time', () => {
    const [current, secret] = [secretOf(32), secretOf(24)]
    expect(secretsOf(textOfSecrets({ current, previous: null }))).toEqual({ current, previous: null })
    const rotated = { current, previous: { secret, until: 1000 } }
    expect(secretsOf(textOfSecrets(rotated))).toEqual(rotated)
    expect(signingSecrets(rotated, 999)).toEqual([current, secret])
    expect(signingSecrets(rotated, 1000)).toEqual([current])
  })
})
