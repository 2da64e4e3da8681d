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

/** An archive claimed by the process that writes it. The claim lasts 30 s after each piece, multiplied by STORE_PATIENCE. */
export interface ClaimedExport extends ExportArchive {
  readonly attempt: number
}

/** Archives of exports and their pieces, shared by all processes. */
export interface ExportStore {
  /** Orders an archive. False if the organization has `waitingMax` archives that are not ready yet. */
  add(
    organizationId: string,
    archive: Pick<ExportArchive, 'id' | 'kind' | 'window' | 'createdAt' | 'expiresAt'>,
    waitingMax: number,
  ): Promise<boolean>
  /** Archives that have not expired, newest first. */
  list(organizationId: string, now: number): Promise<ExportArchive[]>
  /**
   * Claims one more attempt, after it has waited for the running deletions of people. Null if there is nothing to do, or another
   * process holds the claim. A sixth attempt fails. If the call rejects because a deletion takes long, nothing is claimed or counted.
   */
  claim(organizationId: string, id: string, secret: Uint8Array): Promise<ClaimedExport | null>
  /**
   * Rows of the window from one snapshot, oldest first, some hundred at a time; cells in the order of the kind's columns. A
   * caller that stops early must end the iteration.
   */
  rows(organizationId: string, kind: ExportKind, window: TimeWindow): AsyncIterable<readonly (readonly Cell[])[]>
  /** Appends a piece. `append`, `finish` and `release` return false if the claim was lost to another attempt or with the archive. */
  append(organizationId: string, claim: ClaimedExport, n: number, sealed: Uint8Array): Promise<boolean>
  finish(organizationId: string, claim: ClaimedExport, size: number): Promise<boolean>
  /** Releases the claim, so that another attempt may begin at once. */
  release(organizationId: string, claim: ClaimedExport): Promise<boolean>
  /** A ready archive, with the secret of its pieces; null if there is none. */
  ready(
    organizationId: string,
    id: string,
    now: number,
  ): Promise<{ kind: ExportKind; attempt: number; secret: Uint8Array; size: number } | null>
  /** The sealed pieces of an attempt, in order, one at a time. */
  pieces(organizationId: string, id: string, attempt: number): AsyncIterable<Uint8Array>
  /** For a job: unfinished archives of any organization that no process writes. */
  abandoned(): Promise<{ organizationId: string; id: string }[]>
  /** For a job: deletes expired archives; true if more are left. */
  forget(now: number): Promise<boolean>
}
