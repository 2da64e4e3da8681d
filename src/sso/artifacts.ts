import { type Adapter, type AdapterPayload, errors } from 'oidc-provider'
import { sha256Hex } from '../flows/process/tokens.js'
import type { NewSsoArtifact, SsoArtifact, SsoArtifactStore } from '../storage/sso-artifact.js'
import type { Vault } from '../storage/vault.js'

interface Needs {
  readonly organizationId: string
  readonly ssoArtifacts: SsoArtifactStore
  readonly vault: Vault
}

interface AdapterNeeds extends Needs {
  readonly onInteractionEnded: (uid: string) => void
}

/** Sealed JSON in the artifact store, by kind and id. */
export interface Artifacts {
  put(kind: string, id: string, value: object, of: Pick<NewSsoArtifact, 'lifetimeMs' | 'userRef'>): Promise<void>
  find<T>(kind: string, id: string): Promise<T | null>
  end(kind: string, id: string): Promise<void>
}

const purpose = (kind: string, sha256: string) => `sso ${kind} ${sha256}`

export function createArtifacts({ organizationId, ssoArtifacts, vault }: Needs): Artifacts {
  return {
    async put(kind, id, value, { lifetimeMs, userRef }) {
      const sha256 = sha256Hex(id)
      const sealed = await vault.sealSecret(organizationId, purpose(kind, sha256), JSON.stringify(value))
      await ssoArtifacts.put(organizationId, {
        kind,
        sha256,
        sealed,
        uidSha256: null,
        grantSha256: null,
        userRef,
        lifetimeMs,
      })
    },
    async find<T>(kind: string, id: string) {
      const sha256 = sha256Hex(id)
      const found = await ssoArtifacts.find(organizationId, kind, sha256)
      if (found === null) return null
      // Sound: one place writes each kind.
      return JSON.parse(await vault.openSecret(organizationId, purpose(kind, sha256), found.sealed)) as T
    },
    end: (kind, id) => ssoArtifacts.end(organizationId, kind, sha256Hex(id)),
  }
}

/** An artifact without `exp`, such as a session of the browser, ends after this. */
const NO_EXPIRY_S = 24 * 3600

/** The models of the OpenID provider as artifacts. Their ids are bearer values, so the store gets hashes and sealed payloads. */
export function providerAdapter(needs: AdapterNeeds): (model: string) => Adapter {
  const { organizationId, ssoArtifacts, vault, onInteractionEnded } = needs
  return (model) => {
    const opened = async (found: SsoArtifact | null): Promise<AdapterPayload | undefined> => {
      if (found === null) return undefined
      const { sha256, sealed, consumed } = found
      const payload = JSON.parse(await vault.openSecret(organizationId, purpose(model, sha256), sealed))
      return consumed ? { ...payload, consumed: true } : payload
    }
    return {
      async upsert(id, payload, expiresIn) {
        const { consumed: _, ...kept } = payload
        const sha256 = sha256Hex(id)
        const sealed = await vault.sealSecret(organizationId, purpose(model, sha256), JSON.stringify(kept))
        await ssoArtifacts.put(organizationId, {
          kind: model,
          sha256,
          sealed,
          uidSha256: payload.uid === undefined ? null : sha256Hex(payload.uid),
          grantSha256: payload.grantId === undefined ? null : sha256Hex(payload.grantId),
          userRef: payload.accountId ?? null,
          lifetimeMs: (expiresIn || NO_EXPIRY_S) * 1000,
        })
      },
      find: async (id) => opened(await ssoArtifacts.find(organizationId, model, sha256Hex(id))),
      findByUid: async (uid) => opened(await ssoArtifacts.findByUid(organizationId, model, sha256Hex(uid))),
      // The device flow is off.
      findByUserCode: async () => undefined,
      async consume(id) {
        // The provider finds first and consumes later, so two concurrent requests may both have found it unused.
        if (!(await ssoArtifacts.consume(organizationId, model, sha256Hex(id))))
          throw new errors.InvalidGrant('used by another request')
      },
      async destroy(id) {
        await ssoArtifacts.end(organizationId, model, sha256Hex(id))
        if (model === 'Interaction') onInteractionEnded(id)
      },
      revokeByGrantId: (grantId) => ssoArtifacts.endGrant(organizationId, sha256Hex(grantId)),
    }
  }
}
