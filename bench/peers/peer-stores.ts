import { Redis } from 'ioredis'
import pg from 'pg'
import { type UsualSessions, usualSessions } from './usual-sessions.js'

/** Writes the data that the peers read. */
export interface PeerStores {
  /** Sessions of the peer that does a whole verify. */
  readonly sessions: UsualSessions
  /** References of the peer that is spared work, and its sessions. */
  enroll(userRef: string, samples: readonly Uint8Array[]): Promise<void>
  mint(session: string, userRef: string): Promise<void>
  close(): Promise<void>
}

/** Creates the schema of the spared peer. Attempts have the index that a team would need to list those of a user. */
export async function openPeerStores(databaseUrl: string, redisUrl: string): Promise<PeerStores> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 })
  // A running query reports its own error.
  pool.on('error', () => {})
  const redis = new Redis(redisUrl, { enableAutoPipelining: true })
  await pool.query(`
    create schema bench_peer;
    create table bench_peer.reference (user_ref text, ordinal int, sample bytea, primary key (user_ref, ordinal));
    create table bench_peer.attempt (
      id uuid primary key, user_ref text not null, at timestamptz not null, authenticated boolean not null,
      confidence float8, bot float8, attempts int not null, ip text, sample bytea not null);
    create index on bench_peer.attempt (user_ref, at);`)
  return {
    sessions: usualSessions(redis),
    async enroll(userRef, samples) {
      for (const [ordinal, sample] of samples.entries())
        await pool.query('insert into bench_peer.reference values ($1, $2, $3)', [userRef, ordinal, sample])
    },
    async mint(session, userRef) {
      await redis.hset(`peer:${session}`, { user: userRef, attempts: 0 })
    },
    async close() {
      await pool.end()
      redis.disconnect()
    },
  }
}
