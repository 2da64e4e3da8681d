import { MOVE_MAX_MS, type Placement } from '../../storage/placement.js'
import { type Finding, findingsOf, span } from './finding.js'

const { ok, note, warning } = findingsOf('placement')

/** Checks the moves of organizations from and to a database, and the copies that they left. */
export function checkPlacements(placements: readonly Placement[]): Finding[] {
  if (placements.length === 0) return [ok('No organization is being moved, and none has left a copy.')]
  return placements.map(({ organizationId, state, other, since }) => {
    const ageMs = Date.now() - since
    const age = span(ageMs / 1000)
    if (state === 'left')
      return note(
        `A copy of ${organizationId}, which moved to ${other} ${age} ago, is still here.`,
        `Delete it once ${other} has a backup: keystride organization move ${organizationId} --delete-source. Erasures do not reach it.`,
      )
    const way = state === 'arriving' ? 'from' : 'to'
    return (ageMs > MOVE_MAX_MS ? warning : note)(
      `The move of ${organizationId} ${way} ${other} began ${age} ago and has not ended.`,
      `Go on with "keystride organization move ${organizationId} --to ..." or take it back with --back; retention waits for a day.`,
    )
  })
}
