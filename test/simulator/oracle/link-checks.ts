import type { Request } from '../request.js'
import { type AccountRow, keyOf, type LinkEnd, type LinkRow } from '../stores/tables.js'
import type { Hold, OracleNeeds } from './checks.js'

/** Checks of profile links: one completion, and no refusal of a live link. */
export function createLinkChecks({ tables, now, step, saw }: OracleNeeds, hold: Hold) {
  const links = new Map<string, { readonly madeAt: number; ended: LinkEnd | null; completions: number }>()
  /** Step of each account's latest move, which ends its links. */
  const moves = new Map<string, number>()
  let nLinks = 0

  const linkOf = (request: Request) => {
    for (const link of tables.links.values()) if (link.sha256 === request.link?.sha256) return link
    return null
  }
  return {
    made(link: LinkRow): void {
      nLinks++
      links.set(link.id, { madeAt: step(), ended: null, completions: 0 })
    },
    ended(link: LinkRow, how: LinkEnd): void {
      nLinks--
      saw(`link ${how}`)
      const known = links.get(link.id)
      if (known !== undefined) known.ended = how
    },
    moved({ organizationId, account }: AccountRow): void {
      moves.set(keyOf(organizationId, account.userRef), step())
    },
    holdCount(): void {
      hold('I7', tables.links.size === nLinks, () => `${nLinks} links are expected, ${tables.links.size} are stored`)
    },
    /** Checks a link whose step was answered as its completion; false if the link is unknown. */
    completed({ id }: NonNullable<Request['link']>): boolean {
      const link = links.get(id)
      if (link === undefined) return false
      link.completions++
      hold('I7', link.completions === 1, () => `link ${id} was completed ${link.completions} times`)
      hold('I7', link.ended === 'completed', () => `link ${id} was completed and is ${link.ended ?? 'live'}`)
      return true
    },
    /** Checks that a link that was refused as unknown is not live. */
    refused(request: Request): void {
      const link = linkOf(request)
      const known = link === null ? undefined : links.get(link.id)
      if (link === null || known === undefined || link.expiresAt <= now()) return
      const moved = moves.get(keyOf(link.organizationId, link.of.of.account.userRef)) ?? 0
      const changed = known.madeAt >= request.beganAt || moved >= request.beganAt
      hold('I7', changed, () => `link ${link.id} is live and was refused`)
    },
  }
}
