import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import type { Data } from '../answers.js'
import { get } from '../api.js'
import { count } from '../format.js'
import { useLoad } from '../load.js'
import { type Advance, deleteMadeUp, fillWithMadeUp } from '../made-up.js'
import type { Organization } from '../organization.js'
import { Card } from '../parts/page.js'
import { toast, toastError } from '../parts/toasts.js'
import { viewAddress } from '../router.js'
import { access } from '../session.js'
import { fill, t } from '../texts.js'

const texts = t.madeUp
/** While people are created, the other figures of the page are read at this interval. */
const LOOK_MS = 2_000

/** Number of creations and deletions of made-up people; each makes every view load anew. */
export const madeUpRounds = signal(0)

/** Whether the service is for trials, and its number of made-up accounts. */
const useTrial = () =>
  useLoad(
    async (signal) => (await get<Data<Organization>>('/organization', {}, signal)).data,
    [viewAddress.value.path, madeUpRounds.value],
  )

/** Runs `work` on demand. `progress` is null while it does not run. */
function useWork(work: typeof fillWithMadeUp, done: string) {
  const [progress, setProgress] = useState<Advance | null>(null)
  const run = async () => {
    setProgress({ done: 0, all: 1 })
    try {
      await work(setProgress)
      toast(done)
    } catch (error) {
      toastError(error)
    }
    setProgress(null)
    madeUpRounds.value += 1
  }
  return { progress, run }
}

const Done = ({ progress: { done, all } }: { readonly progress: Advance }) => (
  <p>
    <progress value={done} max={all} aria-label={texts.progress} />
    <span class="soft small">{fill(texts.ofAll, { done: count(done), all: count(all) })}</span>
  </p>
)

/** Shown above every view: says that people of the organization are made up, and offers to delete them. */
export function MadeUpNotice() {
  const { data } = useTrial()
  const { progress, run } = useWork(deleteMadeUp, texts.deleted)
  if (data === null || (data.n_made_up === 0 && progress === null)) return null
  return (
    <aside class="notice" aria-label={texts.title}>
      <p>{texts.notice}</p>
      {progress !== null ? (
        <Done progress={progress} />
      ) : (
        access().operates && (
          <button type="button" class="button quiet" onClick={() => void run()}>
            {texts.remove}
          </button>
        )
      )}
    </aside>
  )
}

/**
 * On a service for trials without made-up people, offers to create some. Needs the scope `core`. `changed` is called at intervals
 * meanwhile.
 */
export function MadeUp({ changed }: { readonly changed: () => void }) {
  const { data } = useTrial()
  const { progress, run } = useWork(fillWithMadeUp, texts.filled)
  if (data === null || !data.trial || !access().core || (data.n_made_up > 0 && progress === null)) return null
  const begin = async () => {
    const looking = setInterval(changed, LOOK_MS)
    await run()
    clearInterval(looking)
  }
  return (
    <Card title={texts.title}>
      <p class="soft">{texts.help}</p>
      {progress !== null ? (
        <Done progress={progress} />
      ) : (
        <button type="button" class="button" onClick={() => void begin()}>
          {texts.fill}
        </button>
      )}
    </Card>
  )
}
