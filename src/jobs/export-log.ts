import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify/sync'
import yazl from 'yazl'
import { type Cell, EXPORT_COLUMNS, type ExportKind, safeCell } from '../domain/export.js'
import type { ClaimedExport, ExportStore } from '../storage/exports.js'
import type { Vault } from '../storage/vault.js'

interface Needs {
  readonly exports: ExportStore
  readonly vault: Vault
  /** Size of a piece, which is one database row; 1 MiB unless given. */
  readonly pieceBytes?: number
}

const PIECE_BYTES = 1024 * 1024
const SECRET_BYTES = 32

/**
 * Writes one archive: rows from a cursor, as CSV (RFC 4180), zipped and sealed piece by piece, so that memory holds a few
 * pieces for any number of rows. Does nothing if the archive was deleted or another process has the claim. On failure it
 * releases the claim and rejects, so that the job is retried.
 */
export function createExporter({ exports, vault, pieceBytes = PIECE_BYTES }: Needs) {
  return async (organizationId: string, id: string, signal: AbortSignal): Promise<void> => {
    const secret = randomBytes(SECRET_BYTES)
    const claim = await exports.claim(organizationId, id, secret)
    if (claim === null) return
    try {
      let n = 0
      let size = 0
      const rows = exports.rows(organizationId, claim.kind, claim.window)
      for await (const piece of piecesOf(zipOf(claim.kind, rows), pieceBytes)) {
        signal.throwIfAborted()
        const sealed = await vault.sealPiece(organizationId, { archiveId: id, secret, n }, piece)
        if (!(await exports.append(organizationId, claim, n, sealed))) throw claimLost(claim)
        n += 1
        size += piece.length
      }
      if (!(await exports.finish(organizationId, claim, size))) throw claimLost(claim)
    } catch (error) {
      await exports.release(organizationId, claim).catch(() => {})
      throw error
    }
  }
}

const claimLost = ({ id }: ClaimedExport) => new Error(`the export ${id} was taken over or has to begin again`)

/** A zip with one CSV file. Throws the errors of `rows`. */
async function* zipOf(
  kind: ExportKind,
  rows: AsyncIterable<readonly (readonly Cell[])[]>,
): AsyncGenerator<Buffer, void, undefined> {
  const zip = new yazl.ZipFile()
  // Sound: the output of yazl is a PassThrough.
  const output = zip.outputStream as Readable
  const input = Readable.from(csvOf(kind, rows), { objectMode: false, highWaterMark: 64 * 1024 })
  // yazl emits the errors of its input on the zip.
  zip.on('error', (error: Error) => output.destroy(error))
  zip.addReadStream(input, `${kind}.csv`)
  zip.end()
  try {
    yield* output as AsyncIterable<Buffer>
  } finally {
    input.destroy()
  }
}

async function* csvOf(kind: ExportKind, rows: AsyncIterable<readonly (readonly Cell[])[]>): AsyncGenerator<Buffer> {
  yield csv([EXPORT_COLUMNS[kind]])
  for await (const batch of rows) yield csv(batch.map((row) => row.map(safeCell)))
}

/** RFC 4180 quotes a lone CR or LF; the package does not by default. */
const csv = (records: readonly (readonly string[])[]): Buffer =>
  Buffer.from(stringify([...records] as string[][], { record_delimiter: '\r\n', quoted_match: /[\r\n]/ }))

/** Splits a stream into pieces of one size; the last piece may be shorter. */
async function* piecesOf(stream: AsyncIterable<Buffer>, pieceBytes: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let bytes = 0
  for await (const part of stream) {
    held.push(part)
    bytes += part.length
    while (bytes >= pieceBytes) {
      const all = Buffer.concat(held)
      yield all.subarray(0, pieceBytes)
      held = [all.subarray(pieceBytes)]
      bytes = all.length - pieceBytes
    }
  }
  if (bytes > 0) yield Buffer.concat(held)
}
