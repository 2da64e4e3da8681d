import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { parentPort, workerData } from 'node:worker_threads'
import { randomFrom } from '../../src/typist/made-up-person.js'
import { arrivalTimes } from './arrivals.js'
import { asking, type Member, type Visit } from './asking.js'
import { client } from './client.js'
import { enrolling } from './enrolling.js'
import { closedLoop, openLoop, wallClock } from './loops.js'
import type { Crew, FromWorker, Step, ToWorker } from './messages.js'
import { recorder } from './recorder.js'
import { SignIns } from './sign-in.js'
import { dataCrowd, madeUpCrowd } from './typists.js'

// One thread of the load generator: its share of the people, of the connections and of the arrivals.

const REMOVE_TRIES = 5
const REMOVE_PAUSE_MS = 1000

// Sound: the crew starts this file with nothing else.
const crew = workerData as Crew
const port = parentPort
if (port === null) throw new Error('this file runs as a worker of npm run bench -- load')
const say = (message: FromWorker) => port.postMessage(message)

const seen = recorder()
const connection = client({
  ...crew,
  recorder: seen,
  onUnknownKey: () => say({ kind: 'unknown-key' }),
})
const crowd = crew.data === null ? madeUpCrowd(crew.seed, crew.run) : dataCrowd(crew.data, crew.seed, crew.run)
const needs = { ...crew, client: connection, recorder: seen, crowd, seed: crew.seed * 64 + crew.worker }
const asks = asking(needs)
const { enroll, remove } = enrolling(needs, asks)
const signIns = new SignIns(needs, asks)
const random = randomFrom(needs.seed + 7)
const members: Member[] = []
/** This worker enrolls every `workers`-th person, so that no two workers enroll the same one. */
let nextIndex = crew.worker
let stopping = false

async function join(visit: Visit): Promise<Member | null> {
  const index = nextIndex
  nextIndex += crew.workers
  const member = await enroll(index, `load-${crew.name}-${index}`, visit)
  if (member !== null) members.push(member)
  return member
}

/** Repeats `work` in `lanes` concurrent lanes until it returns false. */
const inLanes = (lanes: number, work: () => Promise<boolean>) =>
  Promise.all(
    Array.from({ length: lanes }, async () => {
      while (!stopping && (await work())) {}
    }),
  )

async function enrollAll(people: number): Promise<void> {
  let left = people
  await inLanes(Math.min(people, 32), async () => {
    if (left-- <= 0) return false
    if ((await join({ counted: true, insists: true, intended: performance.now() })) === null) return false
    say({ kind: 'progress' })
    return true
  })
  say({ kind: 'seen', second: 0, seen: seen.take(), busy: 0, loopDelayMs: 0 })
}

/** Removes the people. Those that could not be removed stay in `members`. */
async function removeAll(): Promise<void> {
  stopping = false
  const kept: Member[] = []
  await inLanes(16, async () => {
    const member = members.pop()
    if (member === undefined) return false
    const last = await removeOne(member)
    if (last !== null) {
      kept.push(member)
      say({ kind: 'kept', last })
    }
    say({ kind: 'progress' })
    return true
  })
  members.push(...kept)
}

/** Removes a person. Returns null, or the failure of the last try. Retries while the service is still overloaded. */
async function removeOne(member: Member): Promise<string | null> {
  for (let tries = 1; ; tries++) {
    const answer = await remove(member, { counted: false, intended: performance.now() })
    if (answer?.ok) return null
    if (tries === REMOVE_TRIES || stopping) return answer === null ? 'no answer' : `status ${answer.status}`
    await wallClock.sleep(REMOVE_PAUSE_MS)
  }
}

/** A person that is not locked, preferably one without a sign-in in progress; null if all are locked. */
function somebody(): Member | null {
  let busy: Member | null = null
  const now = Date.now()
  const from = Math.floor(random() * members.length)
  for (let i = 0; i < members.length; i++) {
    const member = members[(from + i) % members.length]
    if (member === undefined || member.lockedUntil > now) continue
    if (!member.busy) return member
    busy ??= member
    if (i > 64) break
  }
  return busy
}

async function begin(step: Step, intended: number, counted: boolean): Promise<void> {
  if (counted) seen.count('arrivals')
  if (random() < step.enroll) return void (await join({ counted, intended }))
  const member = somebody()
  if (member === null) {
    if (counted) seen.count('nobody_free')
    return wallClock.sleep(10)
  }
  const other = members[Math.floor(random() * members.length)]
  const thief = random() < step.impostors && other !== undefined && other !== member ? other : null
  const givesCode = random() < step.byCode
  member.busy = true
  await signIns.signIn(member, { intended, counted }, { thief, givesCode })
  member.busy = false
}

const loop = { clock: wallClock, stopped: () => stopping }

function atRate(step: Step, rate: number, start: number): Promise<void> {
  const counted = (at: number) => at >= step.warmUpS * 1000
  return openLoop({
    ...loop,
    times: arrivalTimes({ ...step, ...crew, rate, seconds: step.warmUpS + step.seconds, seed: step.seed }),
    start,
    underWayMax: step.waitingMax,
    begin(due, at, lateMs) {
      if (counted(at)) seen.late.record(lateMs)
      return begin(step, due, counted(at))
    },
    dropped(at) {
      if (counted(at)) for (const name of ['arrivals', 'signins_dropped'] as const) seen.count(name)
    },
  })
}

/** The closed loop: one lane per connection. */
async function atOnce(step: Step, start: number): Promise<void> {
  const measured = start + step.warmUpS * 1000
  await wallClock.sleep(start - performance.now())
  await closedLoop({
    ...loop,
    lanes: crew.connections,
    end: measured + step.seconds * 1000,
    begin: (now) => begin(step, now, now >= measured),
  })
}

/** A rest shorter than this after the last whole second is added to that second; on its own it would look like a dip. */
const SHORT_END_MS = 500

async function runStep(step: Step): Promise<void> {
  const start = step.startAt - performance.timeOrigin
  const measured = start + step.warmUpS * 1000
  const delay = monitorEventLoopDelay({ resolution: 5 })
  let before = performance.eventLoopUtilization()
  const report = (second: number) => {
    const now = performance.eventLoopUtilization()
    const busy = performance.eventLoopUtilization(now, before).utilization
    before = now
    // The monitor's own interval (5 ms) is part of its reading.
    const loopDelayMs = Math.max(0, delay.percentile(99) / 1e6 - 5)
    delay.reset()
    say({ kind: 'seen', second, seen: seen.take(), busy, loopDelayMs })
  }
  const second = () => Math.floor((performance.now() - measured) / 1000)
  let timer: NodeJS.Timeout | undefined
  const tick = () => {
    const current = second()
    timer = setTimeout(
      () => {
        report(current)
        tick()
      },
      measured + (current + 1) * 1000 - performance.now(),
    )
  }
  delay.enable()
  tick()
  await (step.rate === null ? atOnce(step, start) : atRate(step, step.rate, start))
  clearTimeout(timer)
  delay.disable()
  const isShort = performance.now() - measured - second() * 1000 < SHORT_END_MS
  report(second() > 0 && isShort ? second() - 1 : second())
}

async function perform(message: ToWorker): Promise<void> {
  if (message.kind === 'enroll') await enrollAll(message.people)
  else if (message.kind === 'remove') await removeAll()
  else if (message.kind === 'step') await runStep(message.step)
  say({ kind: 'done', people: members.length })
}

port.on('message', (message: ToWorker) => {
  if (message.kind === 'stop') {
    stopping = true
    return
  }
  if (message.kind === 'close') {
    connection.close()
    port.close()
    return
  }
  perform(message).catch((error: Error) => say({ kind: 'failed', message: error.stack ?? error.message }))
})
