import type { Cell, ExportKind, ExportStatus } from '../domain/export.js'
import type { TimeWindow } from '../domain/time-window.js'

export interface ExportArchive {
  readonly id: string
  readonly kind: ExportKind
  readonly window: TimeWindow
  readonly status: ExportStatus
  readonly createdAt: number
  readonly expiresAt: number
  /** Bytes of the zip; null until it is ready. */
  readonly size: number | null
}

/** An archive claimed by the process that writes it. The claim lasts 30 s after each piece, times STORE_PATIENCE. */
export interface ClaimedExport extends ExportArchive {
  readonly attempt: number
}

/** Archives of exports and their pieces, shared by all processes. */
export interface ExportStore {
  /** False if the organization has `waitingMax` archives that are not ready yet. */
  add(
    organizationId: string,
    archive: Pick<ExportArchive, 'id' | 'kind' | 'window' | 'createdAt' | 'expiresAt'>,
    waitingMax: number,
  ): Promise<boolean>
  /** Newest first, without expired ones. */
  list(organizationId: string, now: number): Promise<ExportArchive[]>
  /**
   * Claims one more attempt, after the deletions of people that are under way; null if nothing is to do, or another process holds
   * the claim. A sixth attempt fails. If it rejects because the deletions take long, nothing is claimed or counted.
   */
  claim(organizationId: string, id: string, secret: Uint8Array): Promise<ClaimedExport | null>
  /**
   * Rows of the window from one snapshot, oldest first, some hundred at a time; cells in the order of the kind's columns. A
   * caller that stops early must end the iteration.
   */
  rows(organizationId: string, kind: ExportKind, window: TimeWindow): AsyncIterable<readonly (readonly Cell[])[]>
  /** False if the claim is lost, to another attempt or with the archive. The same holds for `finish` and `release`. */
  append(organizationId: string, claim: ClaimedExport, n: number, sealed: Uint8Array): Promise<boolean>
  finish(organizationId: string, claim: ClaimedExport, size: number): Promise<boolean>
  /** Releases the claim: another attempt may begin at once. */
  release(organizationId: string, claim: ClaimedExport): Promise<boolean>
  /** A ready archive, with the secret of its pieces; null if there is none. */
  ready(
    organizationId: string,
    id: string,
    now: number,
  ): Promise<{ kind: ExportKind; attempt: number; secret: Uint8Array; size: number } | null>
  /** The sealed pieces of an attempt, in order, one at a time. */
  pieces(organizationId: string, id: string, attempt: number): AsyncIterable<Uint8Array>
  /** For a job: archives of any organization that no process works on. */
  abandoned(): Promise<{ organizationId: string; id: string }[]>
  /** For a job: deletes expired archives; true if more are left. */
  forget(now: number): Promise<boolean>
}
