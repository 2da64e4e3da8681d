import type { JobFacts } from '../../inspection.js'
import { QUEUES } from '../../job-queue.js'
import type { Client } from '../connection/with-client.js'
import { only } from './reading.js'

interface QueueRow {
  name: string
  waiting: number
  failed: number
  oldest_waiting_s: number | null
  last_success_s: number | null
}

/** Finished jobs are kept for two days, and then for one day in the archive. */
export async function readJobs(client: Client): Promise<JobFacts> {
  const { rows } = await client.query<QueueRow>(`
    select name, count(*) filter (where due)::int as waiting, count(*) filter (where state = 'failed')::int as failed,
      extract(epoch from clock_timestamp() - min(start_after) filter (where due))::float8 as oldest_waiting_s,
      extract(epoch from clock_timestamp() - max(completed_on) filter (where state = 'completed'))::float8 as last_success_s
    from (
      select name, state, start_after, completed_on, state < 'active' and start_after <= clock_timestamp() as due from pgboss.job
      union all select name, state, start_after, completed_on, false from pgboss.archive where state = 'completed') job
    group by name`)
  const found = new Map(rows.map((row) => [row.name, row]))
  await client.query('set local role keystride_system')
  const { rows: stuck } = await client.query<{ n: number }>(`
    select count(*)::int as n from keystride.export_archive
    where status in ('queued', 'running') and created_at < clock_timestamp() - interval '15 minutes'
      and coalesce(claimed_until, '-infinity') < clock_timestamp() and expires_at > clock_timestamp()`)
  return {
    queues: Object.keys(QUEUES).map((queue) => {
      const row = found.get(queue)
      return {
        queue,
        waiting: row?.waiting ?? 0,
        failed: row?.failed ?? 0,
        oldestWaitingS: row?.oldest_waiting_s ?? 0,
        lastSuccessS: row?.last_success_s ?? null,
      }
    }),
    stuckExports: only(stuck).n,
  }
}
