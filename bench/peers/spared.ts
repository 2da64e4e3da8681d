import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import fastify, { type FastifyInstance } from 'fastify'
import { Redis } from 'ioredis'
import pg from 'pg'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel, type Kernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { PATTERN, type PatternBody, pressesOf } from './pattern.js'
import { runWorkers, sha256 } from './workers.js'

/**
 * The usual parts with the least work that could count as a verify: fastify in cluster mode, one worker a core; the body parsed
 * by JSON.parse and validated by a compiled ajv schema; session and attempt counter in Redis by ioredis, both commands in
 * one pipeline; profiles cached in the worker without expiry; one prepared insert an attempt through a pool of pg; answers
 * through a compiled serializer.
 *
 * It omits much of keystride's verify: no replay index, no bot verdict, no context signals, no lock, no member
 * counters in PostgreSQL, no encryption, no row level security, no cache invalidation. It scores by the shipped kernel, inline,
 * from a template made on the person's first attempt.
 *
 * Settings: PROCESSES, DATABASE_URL, REDIS_URL, APIKEY. Prints its port.
 */
const { DATABASE_URL = '', REDIS_URL = '', APIKEY = '' } = process.env
/** Connections a worker: more than the disk and two cores can use at once. No measurement behind it. */
const POOL_MAX = 10

interface Profile {
  readonly template: Uint8Array
  readonly references: number
}

async function worker(): Promise<FastifyInstance> {
  const redis = new Redis(REDIS_URL, { enableAutoPipelining: true })
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: POOL_MAX, min: POOL_MAX })
  pool.on('error', () => {})
  const kernel = createKernel(readFileSync(wasmFile()), readFileSync(modelFile()))
  const profiles = new Map<string, Profile>()
  const keyHash = sha256(APIKEY)

  const app = fastify({ bodyLimit: 512 * 1024, keepAliveTimeout: 60_000 })
  const ajv = new Ajv({ allErrors: false, coerceTypes: false, removeAdditional: false })
  app.setErrorHandler((error: Error & { statusCode?: number }, _, reply) => {
    const status = error.statusCode ?? 500
    if (status === 500) process.stderr.write(`the peer: ${error.stack}\n`)
    return reply.code(status).send({ success: false, message: error.message })
  })
  app.setValidatorCompiler(({ schema }) => ajv.compile(schema as object))
  app.post<{ Params: { userRef: string }; Body: PatternBody }>(
    '/users/:userRef/verify',
    { schema: { body: PATTERN, response: { 200: REPLY } } },
    async (request, reply) => {
      const { apikey = '', 'x-service-session': session = '' } = request.headers
      if (sha256(String(apikey)) !== keyHash) return reply.code(401).send({ success: false })
      const { userRef } = request.params
      const [owner, attempts] = await Promise.all([
        redis.hget(`peer:${session}`, 'user'),
        redis.hincrby(`peer:${session}`, 'attempts', 1),
      ])
      if (owner !== userRef) return reply.code(400).send({ success: false })
      const presses = pressesOf(request.body)
      if (presses === null) return reply.code(422).send({ success: false })
      const profile = profiles.get(userRef) ?? (await loadProfile(pool, kernel, profiles, userRef))
      const sample = encodeSample(presses, request.body.agent.mode)
      const { confidence, botLikelihood } = kernel.scoreTemplate(sample, profile.template)
      const authenticated = (confidence ?? 0) >= 0.5 && botLikelihood <= 0.5
      const id = randomUUID()
      await pool.query({
        name: 'insert-attempt',
        text: 'insert into bench_peer.attempt (id, user_ref, at, authenticated, confidence, bot, attempts, ip, sample) values ($1, $2, now(), $3, $4, $5, $6, $7, $8)',
        values: [id, userRef, authenticated, confidence, botLikelihood, attempts, request.body.ip ?? null, sample],
      })
      return {
        timestamp: new Date().toISOString(),
        success: true,
        message: '',
        action: authenticated ? 'verified' : 'rejected',
        id,
        authenticated,
        confidence,
        nPatternsRef: profile.references,
      }
    },
  )
  return app
}

async function loadProfile(
  pool: pg.Pool,
  kernel: Kernel,
  profiles: Map<string, Profile>,
  userRef: string,
): Promise<Profile> {
  const { rows } = await pool.query<{ sample: Uint8Array }>(
    'select sample from bench_peer.reference where user_ref = $1 order by ordinal',
    [userRef],
  )
  const references = rows.map(({ sample }) => new Uint8Array(sample))
  const [first] = references
  if (first === undefined) throw new Error(`nobody is enrolled as ${userRef}`)
  kernel.score(first, references)
  const profile = { template: kernel.templateOf(references.length), references: references.length }
  profiles.set(userRef, profile)
  return profile
}

const REPLY = {
  type: 'object',
  properties: {
    timestamp: { type: 'string' },
    success: { type: 'boolean' },
    message: { type: 'string' },
    action: { type: 'string' },
    id: { type: 'string' },
    authenticated: { type: 'boolean' },
    confidence: { type: 'number' },
    nPatternsRef: { type: 'integer' },
  },
}

await runWorkers(worker)
