import { request } from 'node:http'
import { type ChannelSettings, endpointOf } from '../../domain/alert-channels.js'
import type { DeliveryOutcome } from '../../flows/alert/courier.js'
import { type ConnectNeeds, connected, outcomeOf } from './connect.js'

/**
 * Sends one POST with a JSON body by TLS. Any 2xx is success; does not follow redirects and does not read the answer's body.
 * `busy` is a status that a retry may mend: 408, 429 and 5xx.
 */
export async function postJson(
  needs: ConnectNeeds,
  settings: Extract<ChannelSettings, { readonly url: string }>,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<DeliveryOutcome> {
  const { host, pathname, search } = new URL(settings.url)
  try {
    const status = await connected(needs, endpointOf(settings), { tls: true }, (socket) => {
      return new Promise<number>((resolve, reject) => {
        const asked = request(
          {
            method: 'POST',
            path: `${pathname}${search}`,
            headers: {
              host,
              connection: 'close',
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(body),
              ...headers,
            },
            createConnection: () => socket,
          },
          (answer) => {
            answer.destroy()
            resolve(answer.statusCode ?? 0)
          },
        )
        asked.on('error', reject)
        asked.end(body)
      })
    })
    if (status >= 200 && status < 300) return 'delivered'
    return status === 429 || status === 408 || status >= 500 ? 'busy' : 'refused'
  } catch (error) {
    return outcomeOf(error)
  }
}
