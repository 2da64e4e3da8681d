import { copyText } from '../browser.js'
import { t } from '../texts.js'
import { Modal } from './dialog.js'
import { toast, toastError } from './toasts.js'

interface FreshNeeds {
  readonly title: string
  readonly help: string
  readonly secret: string
  /** Says that the secret was copied. */
  readonly copied: string
  readonly close: () => void
}

/** Shows a new secret, which the service does not show again. */
export function Fresh({ title, help, secret, copied, close }: FreshNeeds) {
  const copy = () => copyText(secret, t.errors.notCopied).then(() => toast(copied), toastError)
  return (
    <Modal title={title} close={close}>
      <p>{help}</p>
      <p>
        <code class="fresh">{secret}</code>
      </p>
      <div class="buttons">
        <button type="button" class="button quiet" onClick={() => void copy()}>
          {t.dialog.copy}
        </button>
        <button type="button" class="button" onClick={close}>
          {t.dialog.close}
        </button>
      </div>
    </Modal>
  )
}
