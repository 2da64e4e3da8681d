import { EXPORT_KEPT_MS, type ExportKind } from '../../domain/export.js'
import { Refusal } from '../../domain/refusal.js'
import type { TimeWindow } from '../../domain/time-window.js'
import type { ExportArchive, ExportStore } from '../../storage/exports.js'
import type { JobQueueStore } from '../../storage/job-queue.js'
import type { Vault } from '../../storage/vault.js'

interface Needs {
  readonly exports: ExportStore
  readonly jobs: Pick<JobQueueStore, 'send'>
  readonly vault: Vault
  readonly newId: () => string
  readonly now: () => number
}

export interface ExportFlows {
  /** Queues an export and returns its archive's id. Refuses with `rate-limited` while ten are waiting. */
  ask(organizationId: string, kind: ExportKind, window: TimeWindow): Promise<string>
  /** The archives, newest first. */
  list(organizationId: string): Promise<ExportArchive[]>
  /** The zip file. Refuses with `nothing-found` if it is absent or not ready, with `rate-limited` during two other downloads. */
  download(organizationId: string, id: string): Promise<{ bytes: Uint8Array; kind: ExportKind }>
}

const WAITING_MAX = 10
/** Most concurrent downloads of a process. Each archive is in memory as a whole: 75 MB for a million attempts. */
const DOWNLOADS_MAX = 2

export function createExportFlows(needs: Needs): ExportFlows {
  let downloads = 0
  return {
    async ask(organizationId, kind, window) {
      const at = needs.now()
      const archive = { id: needs.newId(), kind, window, createdAt: at, expiresAt: at + EXPORT_KEPT_MS }
      if (!(await needs.exports.add(organizationId, archive, WAITING_MAX)))
        throw new Refusal('rate-limited', `${WAITING_MAX} exports of this organization are waiting already`, 60)
      // If this fails, the job that looks for abandoned exports finds the archive.
      await needs.jobs.send('export-log', { organization: organizationId, archive: archive.id }).catch(() => {})
      return archive.id
    },

    list: (organizationId) => needs.exports.list(organizationId, needs.now()),

    async download(organizationId, id) {
      if (downloads >= DOWNLOADS_MAX) throw new Refusal('rate-limited', 'other archives are being downloaded', 2)
      downloads += 1
      try {
        return await readArchive(needs, organizationId, id)
      } finally {
        downloads -= 1
      }
    },
  }
}

async function readArchive({ exports, vault, now }: Needs, organizationId: string, id: string) {
  const found = await exports.ready(organizationId, id, now())
  if (found === null) throw notReady()
  const bytes = new Uint8Array(found.size)
  let filled = 0
  let n = 0
  for await (const sealed of exports.pieces(organizationId, id, found.attempt)) {
    const piece = await vault.openPiece(organizationId, { archiveId: id, secret: found.secret, n }, sealed)
    bytes.set(piece, filled)
    filled += piece.length
    n += 1
  }
  // The archive was deleted during the read.
  if (filled !== found.size) throw notReady()
  return { bytes, kind: found.kind }
}

const notReady = () => new Refusal('nothing-found', 'no archive of this id is ready')
