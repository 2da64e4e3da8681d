import { CHANNELS, type Channel, eventName, type Rules } from '../alerts.js'
import type { Data } from '../answers.js'
import { call, get } from '../api.js'
import { useLoad } from '../load.js'
import { Card, Page } from '../parts/page.js'
import { Show } from '../parts/states.js'
import { toast, toastError } from '../parts/toasts.js'
import { Wide } from '../parts/wide.js'
import { access } from '../session.js'
import { fill, t } from '../texts.js'
import { ChannelCard } from './alert-channel.js'
import { DeliveryLog } from './alert-deliveries.js'

const texts = t.alerts

export function Alerts() {
  return (
    <Page title={texts.title}>
      <Card title={texts.rules}>
        <p class="soft">{texts.rulesHelp}</p>
        <Matrix />
      </Card>
      <div class="columns">
        {CHANNELS.map((channel) => (
          <ChannelCard key={channel} channel={channel} />
        ))}
      </div>
      <DeliveryLog />
    </Page>
  )
}

/** Which event each channel sends. A tick is saved at once. */
function Matrix() {
  const loaded = useLoad((signal) => get<Data<Rules>>('/alert', {}, signal), [])
  const set = async (event: string, channel: Channel, on: boolean) => {
    try {
      loaded.put(await call<Data<Rules>>('POST', '/alert', { body: { [event]: { [channel]: on } } }))
      toast(fill(on ? texts.on : texts.off, { event: eventName(event), channel: texts.channels[channel] }))
    } catch (error) {
      toastError(error)
      loaded.reload()
    }
  }
  const { operates } = access()
  return (
    <Show of={loaded}>
      {({ data }) => (
        <Wide label={texts.rules}>
          <table class="matrix">
            <thead>
              <tr>
                <th scope="col">{texts.event}</th>
                {CHANNELS.map((channel) => (
                  <th key={channel} scope="col">
                    {texts.channels[channel]}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {Object.entries(data).map(([event, channels]) => (
                <tr key={event}>
                  <th scope="row">{eventName(event)}</th>
                  {CHANNELS.map((channel) => (
                    <td key={channel}>
                      <input
                        type="checkbox"
                        checked={channels[channel]}
                        disabled={!operates}
                        aria-label={`${eventName(event)}: ${texts.channels[channel]}`}
                        onChange={({ currentTarget }) => void set(event, channel, currentTarget.checked)}
                      />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
    </Show>
  )
}
