import type { Database } from './client.js'
import { degraded } from './errors.js'

interface LateNeeds {
  readonly open: () => Promise<Database>
  readonly onOpened: () => void
  /** Called for each failed try: the database does not answer yet, or cannot be used, such as one of a newer schema. */
  readonly onFailed: (error: unknown) => void
  readonly url: string
  readonly patience: number
}

const TRY_EVERY_MS = 2000

/** A database that does not answer yet. Opens it as soon as it does; until then every call is refused. */
export function lateDatabase({ open, onOpened, onFailed, url, patience }: LateNeeds): Database {
  let opened: Database | null = null
  let closed = false
  let trying: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  async function tryOpen(): Promise<void> {
    try {
      opened = await open()
      onOpened()
    } catch (error) {
      onFailed(error)
      if (!closed) schedule()
    }
  }
  function schedule(): void {
    timer = setTimeout(() => {
      trying = tryOpen()
    }, TRY_EVERY_MS).unref()
  }
  schedule()
  const refuse = () => Promise.reject(degraded('the database has not answered since the start'))
  return {
    scoped: (...call) => opened?.scoped(...call) ?? refuse(),
    keyed: (...call) => opened?.keyed(...call) ?? refuse(),
    asSystem: (...call) => opened?.asSystem(...call) ?? refuse(),
    call: (...call) => opened?.call(...call) ?? refuse(),
    ping: () => opened?.ping() ?? refuse(),
    patience,
    server: () => opened?.server() ?? url,
    async close() {
      closed = true
      clearTimeout(timer)
      await trying
      await opened?.close()
    },
  }
}
