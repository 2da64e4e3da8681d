import { useState } from 'preact/hooks'
import type { List } from '../answers.js'
import { call, download } from '../api.js'
import { fileSize } from '../format.js'
import { useLoad } from '../load.js'
import { Badge } from '../parts/badge.js'
import { ChoiceField, TextField } from '../parts/field.js'
import { Card, Page } from '../parts/page.js'
import { Empty } from '../parts/states.js'
import { type Column, type Rows, Table } from '../parts/table.js'
import { Time } from '../parts/time.js'
import { toast, toastError } from '../parts/toasts.js'
import { access } from '../session.js'
import { fill, t } from '../texts.js'

const texts = t.exports
const DAY_MS = 24 * 3600 * 1000
/** While an archive is written, the list is read at this interval. */
const LOOK_MS = 1_500

type ExportKind = 'authentications' | 'logs' | 'usage'

interface Archive {
  readonly id: string
  readonly kind: ExportKind
  readonly date_from: string
  readonly date_to: string
  readonly status: 'queued' | 'running' | 'ready' | 'failed'
  readonly created_at: string
  readonly expires_at: string
  /** Bytes; null until ready. */
  readonly size: number | null
}

export function Exports() {
  const [writing, setWriting] = useState(false)
  const loaded = useLoad<Rows<Archive>>(
    async (signal) => {
      const archives = await call<List<Archive>>('POST', '/management/logs-archives', { signal })
      setWriting(archives.data.some(({ status }) => status === 'queued' || status === 'running'))
      return { ...archives, skip: 0 }
    },
    [],
    writing ? LOOK_MS : null,
  )
  return (
    <Page title={texts.title}>
      {access().operates && <Form queued={loaded.reload} />}
      <div class="card flush">
        <Table
          label={texts.archives}
          of={loaded}
          columns={COLUMNS}
          idOf={({ id }) => id}
          empty={
            <Empty title={texts.empty}>
              <p>{texts.emptyHelp}</p>
            </Empty>
          }
        />
      </div>
    </Page>
  )
}

const day = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** Asks for an archive. The window is of whole days, UTC; both days belong to it. */
function Form({ queued }: { readonly queued: () => void }) {
  const [kind, setKind] = useState<ExportKind>('authentications')
  const [from, setFrom] = useState(() => day(Date.now() - 29 * DAY_MS))
  const [through, setThrough] = useState(() => day(Date.now()))
  const [busy, setBusy] = useState(false)
  const problem = from === '' || through === '' || from > through ? texts.windowProblem : undefined
  const submit = async (event: Event) => {
    event.preventDefault()
    if (problem !== undefined || busy) return
    setBusy(true)
    try {
      const body = { kind, date_from: from, date_to: day(Date.parse(through) + DAY_MS) }
      await call('POST', '/management/export-log', { body })
      toast(texts.queued)
      queued()
    } catch (error) {
      toastError(error)
    }
    setBusy(false)
  }
  return (
    <Card title={texts.create}>
      <form onSubmit={submit}>
        <div class="fields">
          <ChoiceField
            label={texts.contents}
            value={kind}
            set={(value) => setKind(value as ExportKind)}
            names={texts.kinds}
            help={texts.help[kind]}
          />
          <TextField label={texts.from} type="date" value={from} set={setFrom} help={texts.utc} />
          <TextField label={texts.through} type="date" value={through} set={setThrough} problem={problem} />
        </div>
        <div class="buttons">
          <button type="submit" class="button" disabled={busy || problem !== undefined}>
            {texts.button}
          </button>
        </div>
      </form>
    </Card>
  )
}

const TONES = { queued: 'plain', running: 'warn', ready: 'good', failed: 'bad' } as const

/** The last day of a window of whole days, else its end. */
const throughOf = ({ date_to }: Archive): string =>
  date_to.includes('T00:00:00.000Z') ? day(Date.parse(date_to) - 1) : date_to

const COLUMNS: readonly Column<Archive>[] = [
  { name: texts.contents, show: ({ kind }) => texts.kinds[kind] },
  {
    name: texts.window,
    show: (archive) => fill(texts.days, { from: archive.date_from.slice(0, 10), through: throughOf(archive) }),
  },
  { name: texts.status, show: ({ status }) => <Badge tone={TONES[status]}>{texts.statuses[status]}</Badge> },
  { name: texts.size, show: ({ size }) => fileSize(size), figure: true },
  { name: texts.asked, show: ({ created_at }) => <Time at={created_at} /> },
  { name: texts.until, show: ({ expires_at }) => <Time at={expires_at} /> },
  { name: texts.archive, show: (archive) => <Download archive={archive} /> },
]

function Download({ archive }: { readonly archive: Archive }) {
  const [busy, setBusy] = useState(false)
  if (archive.status !== 'ready') return <>{t.none}</>
  const fetchAndSave = async () => {
    setBusy(true)
    try {
      save(await download('/management/download-archive', { id: archive.id }))
    } catch (error) {
      toastError(error)
    }
    setBusy(false)
  }
  return (
    <button type="button" class="button quiet" disabled={busy} onClick={() => void fetchAndSave()}>
      {busy ? texts.downloading : texts.download}
    </button>
  )
}

/** Saves a file. A link cannot download it, because the API key is sent in a header. */
function save({ blob, name }: { readonly blob: Blob; readonly name: string }): void {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
