import { useState } from 'preact/hooks'
import { bodyOf, type Channel, type ChannelSettings, FIELDS, formOf, labelOf } from '../alerts.js'
import type { Data } from '../answers.js'
import { call, get } from '../api.js'
import { type Loaded, useLoad } from '../load.js'
import { Badge } from '../parts/badge.js'
import { Confirm } from '../parts/dialog.js'
import { ChoiceField, TextField } from '../parts/field.js'
import { Fresh } from '../parts/fresh.js'
import { Card } from '../parts/page.js'
import { Show } from '../parts/states.js'
import { toast, toastError } from '../parts/toasts.js'
import { access } from '../session.js'
import { fill, t } from '../texts.js'

const texts = t.alerts

interface ChannelNeeds {
  readonly channel: Channel
}
type Held = Loaded<Data<ChannelSettings | null>>

/** One channel with its settings and actions. */
export function ChannelCard({ channel }: ChannelNeeds) {
  const loaded = useLoad((signal) => get<Data<ChannelSettings | null>>(`/alert/${channel}`, {}, signal), [channel])
  const settings = loaded.data?.data ?? null
  const set =
    loaded.data === null ? undefined : (
      <Badge tone={settings ? 'good' : 'plain'}>{settings ? texts.set : texts.unset}</Badge>
    )
  return (
    <Card title={texts.channels[channel]} aside={set}>
      <Show of={loaded}>
        {() => (
          <>
            {settings !== null && <Facts channel={channel} settings={settings} />}
            {settings === null && <p class="soft">{texts.unsetHelp}</p>}
            {access().operates && <Acts channel={channel} settings={settings} reload={loaded.reload} />}
          </>
        )}
      </Show>
    </Card>
  )
}

const Facts = ({ channel, settings }: ChannelNeeds & { readonly settings: ChannelSettings }) => (
  <dl class="facts">
    {FIELDS[channel].map((field) => {
      const { name, kind } = field
      const value = settings[name]
      const secret = settings[`${name}_set`] === true ? texts.secretSet : t.none
      return [
        <dt key={name}>{labelOf(field)}</dt>,
        <dd key={`${name} value`}>
          {kind === 'secret' ? secret : Array.isArray(value) ? value.join(', ') : String(value ?? t.none)}
        </dd>,
      ]
    })}
  </dl>
)

interface ActsNeeds extends ChannelNeeds {
  readonly settings: ChannelSettings | null
  readonly reload: Held['reload']
}

function Acts({ channel, settings, reload }: ActsNeeds) {
  const [asked, setAsked] = useState<'change' | 'rotate' | 'remove' | null>(null)
  const [fresh, setFresh] = useState<string | null>(null)
  const name = texts.channels[channel]
  const done = (text: string) => {
    toast(fill(text, { channel: name }))
    setAsked(null)
    reload()
  }
  const set = async (body: object) => {
    const { data } = await call<Data<{ readonly secret?: string }>>('POST', `/alert/${channel}`, { body })
    if (data.secret !== undefined) setFresh(data.secret)
    done(texts.saved)
  }
  return (
    <div class="acts below">
      <button type="button" class="button quiet" onClick={() => setAsked('change')}>
        {settings === null ? texts.setUp : texts.change}
      </button>
      {settings !== null && (
        <>
          <TestButton channel={channel} />
          {channel === 'webhook' && (
            <button type="button" class="button quiet" onClick={() => setAsked('rotate')}>
              {texts.rotate}
            </button>
          )}
          <button type="button" class="button danger" onClick={() => setAsked('remove')}>
            {texts.remove}
          </button>
        </>
      )}
      {asked === 'change' && (
        <ChangeDialog channel={channel} settings={settings} close={() => setAsked(null)} set={set} />
      )}
      {asked === 'rotate' && (
        <Confirm
          title={`${texts.rotate}: ${name}`}
          button={texts.rotate}
          close={() => setAsked(null)}
          act={() => set({ url: settings?.url, rotate_secret: true })}
        >
          <p>{texts.rotateEffect}</p>
        </Confirm>
      )}
      {fresh !== null && (
        <Fresh
          title={texts.freshTitle}
          help={texts.freshHelp}
          secret={fresh}
          copied={texts.copied}
          close={() => setFresh(null)}
        />
      )}
      {asked === 'remove' && (
        <RemoveDialog channel={channel} close={() => setAsked(null)} done={() => done(texts.removed)} />
      )}
    </div>
  )
}

function TestButton({ channel }: ChannelNeeds) {
  const [testing, setTesting] = useState(false)
  const test = async () => {
    setTesting(true)
    try {
      type Delivery = Data<{ readonly delivered: boolean }> & { readonly message: string }
      const { data, message } = await call<Delivery>('POST', `/alert/${channel}/test`)
      toast(message, data.delivered ? 'good' : 'bad')
    } catch (error) {
      toastError(error)
    }
    setTesting(false)
  }
  return (
    <button type="button" class="button quiet" disabled={testing} onClick={() => void test()}>
      {texts.test}
    </button>
  )
}

interface RemoveNeeds extends ChannelNeeds {
  readonly close: () => void
  readonly done: () => void
}

const RemoveDialog = ({ channel, close, done }: RemoveNeeds) => (
  <Confirm
    title={`${texts.remove}: ${texts.channels[channel]}`}
    button={texts.remove}
    danger
    close={close}
    act={async () => {
      await call('DELETE', `/alert/${channel}`)
      done()
    }}
  >
    <p>{texts.removeEffect}</p>
  </Confirm>
)

interface ChangeNeeds extends ChannelNeeds {
  readonly settings: ChannelSettings | null
  readonly close: () => void
  readonly set: (body: object) => Promise<void>
}

/** The form of a channel. The API validates it, and the dialog shows the field that it refuses. */
function ChangeDialog({ channel, settings, close, set }: ChangeNeeds) {
  const [form, setForm] = useState(() => formOf(channel, settings))
  const act = () => set(bodyOf(channel, form))
  return (
    <Confirm title={texts.channels[channel]} button={texts.save} act={act} close={close}>
      {FIELDS[channel].map((field) => {
        const { name, kind } = field
        const needs = {
          label: labelOf(field),
          value: form[name] ?? '',
          set: (value: string) => setForm((all) => ({ ...all, [name]: value })),
        }
        if (typeof kind !== 'string')
          return <ChoiceField key={name} {...needs} names={Object.fromEntries(kind.map((one) => [one, one]))} />
        const secret = kind === 'secret'
        const first = channel === 'webhook' ? texts.secretFirst : ''
        const help = secret ? (settings === null ? first : texts.secretHelp) : kind === 'list' ? texts.listHelp : ''
        return (
          <TextField
            key={name}
            {...needs}
            type={secret ? 'password' : kind === 'number' ? 'number' : 'text'}
            help={help}
          />
        )
      })}
    </Confirm>
  )
}
