import { useState } from 'preact/hooks'
import type { Data } from '../answers.js'
import { get } from '../api.js'
import { count, counted } from '../format.js'
import { useLoad } from '../load.js'
import { deleteMadeUp, fillWithMadeUp, madeUpPeople, type Progress } from '../made-up.js'
import type { Organization } from '../organization.js'
import { Card } from '../parts/page.js'
import { toast, toastError } from '../parts/toasts.js'
import { access } from '../session.js'
import { fill, t } from '../texts.js'

const texts = t.madeUp
/** While people are made, the other figures of the page are read this often. */
const LOOK_MS = 2_000

/**
 * On a service for trials, offers to fill it with made-up people, and to delete them. Needs the scope `core`. `changed` is
 * called while people come and go.
 */
export function MadeUp({ changed }: { readonly changed: () => void }) {
  const loaded = useLoad(async (signal) => {
    const [{ data }, people] = await Promise.all([
      get<Data<Organization>>('/organization', {}, signal),
      madeUpPeople(signal),
    ])
    return { trial: data.trial, n: people.length }
  }, [])
  const [progress, setProgress] = useState<Progress | null>(null)
  const { data } = loaded
  if (data === null || !data.trial || !access().core) return null
  const run = async (work: typeof fillWithMadeUp, done: string) => {
    setProgress({ done: 0, all: 1 })
    const looking = setInterval(changed, LOOK_MS)
    try {
      await work(setProgress)
      toast(done)
    } catch (error) {
      toastError(error)
    }
    clearInterval(looking)
    setProgress(null)
    loaded.reload()
    changed()
  }
  return (
    <Card title={texts.title}>
      <p class="soft">{data.n === 0 ? texts.help : counted(texts.present, data.n)}</p>
      {progress !== null ? (
        <p>
          <progress value={progress.done} max={progress.all} aria-label={texts.progress} />
          <span class="soft small">{fill(texts.ofAll, { done: count(progress.done), all: count(progress.all) })}</span>
        </p>
      ) : data.n === 0 ? (
        <button type="button" class="button" onClick={() => void run(fillWithMadeUp, texts.filled)}>
          {texts.fill}
        </button>
      ) : (
        <button type="button" class="button quiet" onClick={() => void run(deleteMadeUp, texts.deleted)}>
          {texts.remove}
        </button>
      )}
    </Card>
  )
}
