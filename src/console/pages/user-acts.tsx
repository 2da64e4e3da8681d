import { useRef, useState } from 'preact/hooks'
import { call, pathOf } from '../api.js'
import { copyText } from '../browser.js'
import { Confirm, Modal } from '../parts/dialog.js'
import { Card } from '../parts/page.js'
import { QrCode } from '../parts/qr-code.js'
import { toast, toastError } from '../parts/toasts.js'
import { href, navigate } from '../router.js'
import { access } from '../session.js'
import { fill, t } from '../texts.js'
import type { FullUser } from '../users.js'

const texts = t.user
const ACTS = [
  'lock',
  'unlock',
  'reset-profile',
  'clear-security-code',
  'RESET_BIOMETRIC_PROFILE',
  'UPDATE_BIOMETRIC_PROFILE',
  'clear-pending-action',
] as const
type Act = (typeof ACTS)[number]
const DANGEROUS: readonly Act[] = ['lock', 'reset-profile', 'clear-security-code']
const LINKS = ['create-profile', 'complete-profile', 'reset-profile'] as const

interface ActsNeeds {
  readonly user: FullUser
  readonly changed: () => void
}
type OpenDialog = Act | 'delete' | 'link' | null

/** The actions on a user that the key opens. */
export function UserActs({ user, changed }: ActsNeeds) {
  const [asked, setAsked] = useState<OpenDialog>(null)
  const { operates, core, links } = access()
  if (!operates && !core && !links) return null
  const pending = user.members.some(({ pending_action }) => pending_action !== null)
  const acts = operates ? ACTS.filter((act) => act !== 'clear-pending-action' || pending) : []
  const close = () => setAsked(null)
  const needs = { user, changed, close }
  return (
    <Card title={texts.actions}>
      <div class="acts">
        {acts.map((act) => (
          <button
            key={act}
            type="button"
            class={DANGEROUS.includes(act) ? 'button danger' : 'button quiet'}
            onClick={() => setAsked(act)}
          >
            {texts.acts[act]}
          </button>
        ))}
        {links && (
          <button type="button" class="button quiet" onClick={() => setAsked('link')}>
            {texts.link}
          </button>
        )}
        {core && (
          <button type="button" class="button danger" onClick={() => setAsked('delete')}>
            {texts.delete}
          </button>
        )}
      </div>
      {asked === 'link' ? (
        <LinkDialog {...needs} />
      ) : asked === 'delete' ? (
        <DeleteDialog {...needs} />
      ) : (
        asked !== null && <ActDialog {...needs} act={asked} />
      )}
    </Card>
  )
}

interface DialogNeeds extends ActsNeeds {
  readonly close: () => void
}

/** The choice of a member, which a call on a shared account must name. */
function useMember({ type, members }: FullUser) {
  const [memberRef, setMemberRef] = useState(members[0]?.member_ref)
  const choice =
    type === 'nominative' ? null : (
      <label>
        {texts.member}
        <select value={memberRef} onChange={({ currentTarget }) => setMemberRef(currentTarget.value)}>
          {members.map(({ member_ref }) => (
            <option key={member_ref} value={member_ref} translate={false}>
              {member_ref}
            </option>
          ))}
        </select>
      </label>
    )
  return { choice, body: type === 'nominative' ? {} : { member_ref: memberRef } }
}

function ActDialog({ user, act, changed, close }: DialogNeeds & { readonly act: Act }) {
  const { choice, body } = useMember(user)
  const perform = async () => {
    await call('POST', `/users${pathOf(user.user_ref)}/actions`, { body: { action: act, ...body } })
    toast(fill(texts.acted, { act: texts.acts[act], user: user.user_ref }))
    close()
    changed()
  }
  return (
    <Confirm
      title={fill(texts.actOn, { act: texts.acts[act], user: user.user_ref })}
      button={texts.acts[act]}
      danger={DANGEROUS.includes(act)}
      act={perform}
      close={close}
    >
      <p>{texts.effects[act]}</p>
      {choice}
    </Confirm>
  )
}

function DeleteDialog({ user, close }: DialogNeeds) {
  const { user_ref } = user
  const perform = async () => {
    await call('DELETE', `/users${pathOf(user_ref)}`, { api: 'core' })
    toast(fill(texts.deleted, { user: user_ref }))
    navigate(href('users'))
  }
  return (
    <Confirm
      title={fill(texts.actOn, { act: texts.delete, user: user_ref })}
      button={texts.delete}
      danger
      word={user_ref}
      act={perform}
      close={close}
    >
      <p>{texts.deleteEffect}</p>
    </Confirm>
  )
}

const VALIDITIES = [3600, 86_400, 604_800] as const

function LinkDialog({ user, changed, close }: DialogNeeds) {
  const { choice, body } = useMember(user)
  const [made, setMade] = useState<string | null>(null)
  const kind = useRef<HTMLSelectElement>(null)
  const validity = useRef<HTMLSelectElement>(null)
  const title = fill(texts.actOn, { act: texts.link, user: user.user_ref })
  const make = async () => {
    const path = `/api/links/${kind.current?.value}${pathOf(user.user_ref)}`
    const wishes = { ...body, validity: Number(validity.current?.value) }
    setMade((await call<{ link: string }>('POST', path, { api: 'links', body: wishes })).link)
    changed()
  }
  if (made !== null) return <MadeLink title={title} link={made} close={close} />
  return (
    <Confirm title={title} button={texts.linkMake} act={make} close={close}>
      <p>{texts.linkEffect}</p>
      {choice}
      <label>
        {texts.linkKind}
        <select ref={kind} defaultValue={user.biometric_status === 'ok' ? 'complete-profile' : 'create-profile'}>
          {LINKS.map((one) => (
            <option key={one} value={one}>
              {texts.linkKinds[one]}
            </option>
          ))}
        </select>
      </label>
      <label>
        {texts.validity}
        <select ref={validity} defaultValue="86400">
          {VALIDITIES.map((seconds) => (
            <option key={seconds} value={seconds}>
              {texts.validities[seconds]}
            </option>
          ))}
        </select>
      </label>
    </Confirm>
  )
}

interface MadeNeeds {
  readonly title: string
  readonly link: string
  readonly close: () => void
}

const MadeLink = ({ title, link, close }: MadeNeeds) => (
  <Modal title={title} close={close}>
    <p>{texts.linkMade}</p>
    <QrCode text={link} label={texts.qr} />
    <label>
      {texts.linkAddress}
      <input readOnly value={link} onFocus={({ currentTarget }) => currentTarget.select()} />
    </label>
    <div class="buttons">
      <button
        type="button"
        class="button"
        onClick={() => void copyText(link, t.errors.notCopied).then(() => toast(texts.copied), toastError)}
      >
        {texts.copy}
      </button>
      <button type="button" class="button quiet" onClick={close}>
        {t.dialog.close}
      </button>
    </div>
  </Modal>
)
