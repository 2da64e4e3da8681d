import { t } from '../texts.js'
import { Mark } from './mark.js'

/** The page in place of one that an error ended. */
export const Ended = ({ error }: { readonly error: unknown }) => (
  <main class="gate">
    <div class="card" role="alert">
      <Mark />
      <h1>{t.errors.ended}</h1>
      <p>{t.errors.endedHelp}</p>
      <pre>
        <code>{String(error)}</code>
      </pre>
      <button type="button" class="button" onClick={() => location.reload()}>
        {t.errors.again}
      </button>
    </div>
  </main>
)
