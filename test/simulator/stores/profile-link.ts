import type { ProfileLinkStore } from '../../../src/storage/profile-link.js'
import {
  endWithCollected,
  type Immediate,
  keyOf,
  type LinkEnd,
  type LinkRow,
  linksOf,
  live,
  type Tables,
} from './tables.js'

export function memoryProfileLinks(tables: Tables): Immediate<ProfileLinkStore> {
  const end = (link: LinkRow, how: LinkEnd) => endWithCollected(tables, link, how)
  return {
    make(organizationId, link) {
      const of = live(tables, organizationId, link.memberId)
      if (of === null) return false
      for (const older of linksOf(tables, of)) if (older.kind === link.kind) end(older, 'replaced')
      const made = { ...link, organizationId, of, expiresAt: tables.now() + link.validityS * 1000 }
      tables.links.set(keyOf(organizationId, link.id), made)
      tables.watch({ what: 'link-made', link: made })
      return true
    },
    find(sha256) {
      for (const link of tables.links.values()) {
        const { organizationId, id, kind, aim, redirectUri, of } = link
        if (link.expiresAt <= tables.now() || of.archivedAt !== null) continue
        if (!Buffer.from(sha256).equals(link.sha256)) continue
        const { userRef } = of.of.account
        return { organizationId, id, kind, aim, redirectUri, userRef, memberRef: of.member.memberRef }
      }
      return null
    },
    revoke(organizationId, memberIds) {
      for (const link of [...tables.links.values()])
        if (link.organizationId === organizationId && memberIds.includes(link.memberId)) end(link, 'revoked')
    },
    sweep(organizationId) {
      for (const link of [...tables.links.values()])
        if (link.organizationId === organizationId && link.expiresAt < tables.now()) end(link, 'expired')
    },
  }
}
