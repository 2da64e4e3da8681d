import { z } from 'zod'
import { QUEUES, type QueueName } from '../../storage/job-queue.js'
import { Data, dashboardRoute, NoBody, NoParams, NoQuery, Row } from './dashboard-route.js'

const Queue = z.object({
  queue: z.enum(Object.keys(QUEUES) as [QueueName]), // Sound: the keys are the names.
  n_waiting: z.int().describe('jobs that are due and that no process has taken'),
  n_later: z.int().describe('jobs that are due later, retries included'),
  n_running: z.int(),
  n_failed: z.int().describe('jobs whose last retry failed within about two days'),
  oldest_waiting_s: z.number().nullable().describe('how long the oldest waiting job has been due; null if none waits'),
})

/** The health of the deployment. It names no address, and no other organization. */
export const system = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/system',
  summary: 'Health of the deployment: versions, processes, stores and job queues',
  description:
    'The answer is about the whole deployment, not only the organization. The call is served while Redis is unreachable, and to a key that ' +
    'was used within the last second while PostgreSQL is. `/metrics` has more for a monitoring system.',
  whileDegraded: true,
  params: NoParams,
  query: NoQuery,
  body: NoBody,
  replies: {
    200: Data(
      z.object({
        status: z.enum(['OK', 'NOK']).describe('NOK while a store is unreachable or a clock is far off'),
        reason: z.string().nullable().describe('the reason for NOK; null with OK'),
        version: z.string().describe('version of the build that answers'),
        node: z.string().describe('version of Node.js'),
        http_server: z.string().describe('uWebSockets.js, or node:http if its binary does not load, with the version'),
        roles: z.array(z.string()).describe('the parts of the service that the answering process serves'),
        model: z.object({
          name: z.string(),
          sha256: z.string().describe('SHA-256 of the model file, as in a trace'),
        }),
        processes: z
          .array(
            z.object({
              process: z.int().describe('its number on its machine, from 0 on'),
              version: z.string().describe('version of its build; the processes differ only during an update'),
              uptime_s: z.number(),
              n_restarts: z.int().describe('number of restarts by its supervisor'),
            }),
          )
          .describe('the serving processes of the machine that answers; other machines are not known'),
        stores: z.array(
          z.object({
            name: z.string().describe('`PostgreSQL`, and `Redis` if it is configured'),
            reachable: z.boolean().describe('false also if it takes no writes'),
            latency_ms: z.number().nullable().describe('round trip of a ping; null if it is unreachable'),
          }),
        ),
        database: z
          .object({
            server_version: z.string(),
            bytes: z.int().describe('size on disk, without the write-ahead log'),
            schema_version: z.string().describe('latest migration'),
            functions_version: z.string().describe('version of Keystride whose functions the database has'),
          })
          .nullable()
          .describe('null while the database is unreachable'),
        queues: z.array(Queue).nullable().describe('queues of background jobs; null while the database is unreachable'),
        clock_skew_ms: z.number().describe("largest skew between a clock and the database's"),
      }),
    ),
  },
  refuses: [],
  async handle({ services }) {
    const { degraded, stores, database, queues, processes, clockSkewMs } = await services.system()
    const data = {
      status: degraded === null ? 'OK' : 'NOK',
      reason: degraded,
      ...services.build(),
      processes: processes.map(({ index, version, uptimeS, restarts }) => ({
        process: index,
        version,
        uptime_s: rounded(uptimeS),
        n_restarts: restarts,
      })),
      stores: stores.map(({ name, latencyMs }) => ({
        name,
        reachable: latencyMs !== null,
        latency_ms: latencyMs === null ? null : rounded(latencyMs),
      })),
      database: database && {
        server_version: database.serverVersion,
        bytes: database.bytes,
        schema_version: database.schemaVersion,
        functions_version: database.functionsVersion,
      },
      queues:
        queues?.map((one) => ({
          queue: one.queue,
          n_waiting: one.waiting,
          n_later: one.later,
          n_running: one.running,
          n_failed: one.failed,
          oldest_waiting_s: one.oldestWaitingS === null ? null : rounded(one.oldestWaitingS),
        })) ?? null,
      clock_skew_ms: rounded(clockSkewMs),
    }
    return { status: 200, payload: { data } }
  },
})

const rounded = (value: number): number => Math.round(value * 10) / 10
