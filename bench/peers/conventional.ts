import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { Redis } from 'ioredis'
import pg from 'pg'
import { v7 } from 'uuid'
import { z } from 'zod'
import { BootstrapState, bootstrapState } from '../../src/api/core/users.js'
import { VerifyReply, verifyReply } from '../../src/api/core/verify.js'
import { Refusal } from '../../src/domain/refusal.js'
import { createPatternMemory } from '../../src/flows/attempt/pattern-memory.js'
import { createPersonCache } from '../../src/flows/attempt/person-cache.js'
import { createVerify } from '../../src/flows/attempt/verify.js'
import { createSettings } from '../../src/flows/organization/settings.js'
import { newToken } from '../../src/flows/process/tokens.js'
import { createBootstrap } from '../../src/flows/session/bootstrap.js'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import type { SessionStore } from '../../src/storage/session.js'
import { openStores } from '../../src/wiring/open-stores.js'
import { PATTERN, type PatternBody } from './pattern.js'
import { usualReferences, usualTested } from './usual-reads.js'
import { usualRecord } from './usual-record.js'
import { createUsualScoring } from './usual-scoring.js'
import { usualSessions } from './usual-sessions.js'
import { runWorkers, sha256 } from './workers.js'

/**
 * Keystride's sign-in, a bootstrap and a verify, as a good team would build it from the usual parts: fastify in cluster mode, one worker a core; the body
 * parsed by JSON.parse and validated by a compiled ajv schema; scores, bot signs and replay marks by the shipped kernel, inline;
 * sessions in Redis by ioredis, one command after the other; a transaction of prepared statements an attempt through a pool of
 * pg, and one for each read of references and of known patterns; answers through a compiled serializer.
 *
 * It decides by the service's own flow (context, verdict, counters, caches of people and settings) and writes the same rows
 * to the same tables, sealed with the same keys, so the comparison is one of the parts. It omits row level security,
 * admission and limits, the log and the usage count, metrics, and adaptation. It accepts both of two resembling patterns
 * at the same moment. It finds accounts by the service's statement, which concurrent calls share.
 *
 * Settings: those of the service, PROCESSES, APIKEY, and ORGANIZATION, the key's organization. Prints its port.
 */
const { DATABASE_URL = '', REDIS_URL = '', APIKEY = '', ORGANIZATION = '' } = process.env
/** Connections a worker: more than the disk and two cores can use at once. No measurement behind it. */
const POOL_MAX = 10

async function worker(): Promise<FastifyInstance> {
  const config = readConfig(process.env)
  const stores = await openStores(config, jsonLog('silent'), { redis: false })
  const redis = new Redis(REDIS_URL, { enableAutoPipelining: true })
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: POOL_MAX, min: POOL_MAX })
  pool.on('error', () => {})
  // Plans are made on small tables and kept. Like the service's, they must use the indexes.
  pool.on('connect', (client) => {
    void client.query('set role keystride_system; set enable_seqscan = off; set jit = off')
  })
  const scoring = createUsualScoring(readFileSync(wasmFile()), readFileSync(modelFile()))
  const needs = {
    ...stores,
    replay: config.replay,
    targets: config.targets,
    contextIndicators: config.contextIndicators,
    scoring,
    sessions: usualSessions(redis) as SessionStore,
    authentications: { ...stores.authentications, record: usualRecord(pool), tested: usualTested(pool) },
    profiles: { ...stores.profiles, references: usualReferences(pool) },
    comparisonSets: null,
    people: createPersonCache(config.profileCacheBytes / 2),
    memory: createPatternMemory(config.profileCacheBytes / 2),
    settingsOf: createSettings({ ...stores, monotonicMs: () => performance.now() }).settingsOf,
    adaptation: false,
    newId: () => v7(),
    newToken,
    now: stores.clock.now,
    randomSeed: () => Math.floor(Math.random() * 2 ** 32),
  }
  const [bootstrap, verify] = [createBootstrap(needs), createVerify(needs)]
  const keyHash = sha256(APIKEY)

  const app = fastify({ bodyLimit: 512 * 1024, keepAliveTimeout: 60_000 })
  const ajv = new Ajv({ allErrors: false, coerceTypes: false, removeAdditional: false })
  app.setErrorHandler((error: Error & { statusCode?: number }, _, reply) => {
    const status = error instanceof Refusal ? 422 : (error.statusCode ?? 500)
    if (status === 500) process.stderr.write(`the peer: ${error.stack}\n`)
    return reply.code(status).send({ success: false, message: error.message })
  })
  app.setValidatorCompiler(({ schema }) => ajv.compile(schema as object))
  const hasKey = ({ headers }: FastifyRequest) => sha256(String(headers.apikey)) === keyHash
  const whoOf = ({ params }: { readonly params: UserParams }) => ({
    organizationId: ORGANIZATION,
    userRef: params.userRef,
    memberRef: null,
  })
  app.get<{ Params: UserParams }>(
    '/users/:userRef',
    { schema: { response: { 200: BOOTSTRAP_REPLY } } },
    async (request, reply) => {
      if (!hasKey(request)) return reply.code(401).send({ success: false })
      const who = whoOf(request)
      const begun = await bootstrap(who, null, HINTS)
      void reply.header('x-service-session', begun.sessionToken)
      return { timestamp: new Date().toISOString(), success: true, message: 'Done', ...bootstrapState(who, begun) }
    },
  )
  app.post<{ Params: UserParams; Body: PatternBody }>(
    '/users/:userRef/verify',
    { schema: { body: PATTERN, response: { 200: REPLY } } },
    async (request, reply) => {
      if (!hasKey(request)) return reply.code(401).send({ success: false })
      const who = whoOf(request)
      const { 'x-service-session': session = '' } = request.headers
      const answer = await verify(who, String(session), { kind: 'pattern', body: scoring.present(request.body) }, HINTS)
      const timestamp = new Date().toISOString()
      return { timestamp, success: true, message: 'Done', ...verifyReply(answer, request.id) }
    },
  )
  return app
}

const HINTS = { language: null, acceptLanguage: null }

interface UserParams {
  readonly userRef: string
}

const text = { type: 'string' }
const replyOf = (shape: z.ZodType) => ({
  type: 'object',
  properties: {
    timestamp: text,
    success: { type: 'boolean' },
    message: text,
    ...z.toJSONSchema(shape, { target: 'draft-7' }).properties,
  },
})
const [BOOTSTRAP_REPLY, REPLY] = [replyOf(BootstrapState), replyOf(VerifyReply)]

await runWorkers(worker)
