/**
 * At the source of a move: `copying`, then `leaving` while changes follow, `closing` while processes refuse the organization's calls,
 * `closed` while every write is refused, then `left`. At the destination: `arriving`.
 */
export type PlacementState = 'copying' | 'leaving' | 'closing' | 'closed' | 'left' | 'arriving'

/** An organization that moves between databases, or has moved. */
export interface Placement {
  readonly organizationId: string
  readonly state: PlacementState
  /** Name of the other database. */
  readonly other: string
  /** Epoch ms. */
  readonly since: number
}

/** A move that has not ended in this time no longer holds up retention. */
export const MOVE_MAX_MS = 24 * 3600_000

/** Where organizations are. An organization without a placement is at home in the database that has it. */
export interface PlacementStore {
  has(organizationId: string): Promise<boolean>
  list(): Promise<Placement[]>
}
