import { randomBytes } from 'node:crypto'
import { ROTATION_MS, secretsOf, textOfSecrets } from '../../domain/webhook.js'
import type { Vault } from '../../storage/vault.js'

/** The secret that a call gives to a channel. */
export interface SecretChange {
  /** Undefined keeps the stored secret. */
  readonly given: string | undefined
  /** Generates a signing secret in place of the stored one. */
  readonly rotate?: boolean
}

interface Needs {
  readonly vault: Pick<Vault, 'sealSecret' | 'openSecret'>
  readonly now: () => number
}

/** The specification allows 24 to 64 bytes. */
const SECRET_BYTES = 32

/**
 * The signing secret of a webhook after a change; `before` is the sealed one. Generates a secret if none is given and none
 * is stored, or to rotate it. A replaced secret also signs for `ROTATION_MS`.
 */
export async function webhookSecretAfter(
  { vault, now }: Needs,
  organizationId: string,
  before: Uint8Array | null,
  { given, rotate = false }: SecretChange,
): Promise<{ readonly sealed: Uint8Array; readonly newSecret: string | null }> {
  if (before !== null && given === undefined && !rotate) return { sealed: before, newSecret: null }
  const stored = before === null ? null : secretsOf(await vault.openSecret(organizationId, 'webhook', before))
  const generated = given === undefined ? `whsec_${randomBytes(SECRET_BYTES).toString('base64')}` : null
  const current = given ?? generated ?? ''
  if (before !== null && stored?.current === current) return { sealed: before, newSecret: null }
  const previous = stored === null ? null : { secret: stored.current, until: now() + ROTATION_MS }
  const sealed = await vault.sealSecret(organizationId, 'webhook', textOfSecrets({ current, previous }))
  return { sealed, newSecret: generated }
}
