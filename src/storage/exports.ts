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

/** An archive as the process sees it that writes it: the claim holds for 30 s after each piece. */
export interface ClaimedExport extends ExportArchive {
  readonly attempt: number
}

/** Archives of exports and their pieces, wherever a process runs. */
export interface ExportStore {
  /** False where the organization has `waitingMax` archives that are not ready yet. */
  add(
    organizationId: string,
    archive: Pick<ExportArchive, 'id' | 'kind' | 'window' | 'createdAt' | 'expiresAt'>,
    waitingMax: number,
  ): Promise<boolean>
  /** Newest first, without those past their time. */
  list(organizationId: string, now: number): Promise<ExportArchive[]>
  /** The claim of one more attempt; null where there is nothing to do, or somebody is at it. A sixth attempt fails. */
  claim(organizationId: string, id: string, secret: Uint8Array): Promise<ClaimedExport | null>
  /**
   * Rows of the window as they are now, all from one moment, oldest first, some hundred at a time; cells in the order of
   * the kind's columns. Whoever stops early must end the iteration.
   */
  rows(organizationId: string, kind: ExportKind, window: TimeWindow): AsyncIterable<readonly (readonly Cell[])[]>
  /** False where the claim is lost: to another attempt, or with the archive. The same for what ends an attempt. */
  append(organizationId: string, claim: ClaimedExport, n: number, sealed: Uint8Array): Promise<boolean>
  finish(organizationId: string, claim: ClaimedExport, size: number): Promise<boolean>
  /** Gives the claim back: another attempt may begin at once. */
  release(organizationId: string, claim: ClaimedExport): Promise<boolean>
  /** A ready archive, with what opens its pieces; null where there is none. */
  ready(
    organizationId: string,
    id: string,
    now: number,
  ): Promise<{ kind: ExportKind; attempt: number; secret: Uint8Array; size: number } | null>
  /** The sealed pieces of an attempt, in order, one at a time. */
  pieces(organizationId: string, id: string, attempt: number): AsyncIterable<Uint8Array>
  /** A job's: archives, of any organizations, that nobody works on. */
  abandoned(): Promise<{ organizationId: string; id: string }[]>
  /** A job's; true where more is left. */
  forget(now: number): Promise<boolean>
}
