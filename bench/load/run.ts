import { createHash } from 'node:crypto'
import { cpus, release, totalmem, type } from 'node:os'
import { startCrew } from './crew.js'
import { watchMachine } from './health.js'
import { QUANTILES } from './histogram.js'
import type { Options } from './options.js'
import { liveFigures, type Progress } from './progress.js'
import { errorsOf, type Recorder, recorder } from './recorder.js'
import type { Report, StepReport } from './report-schema.js'
import { type ServiceSecond, watchService } from './service-metrics.js'
import { kneeOf, latencyOf, type StepSeen, stepReport, stepSeen } from './step-report.js'
import { CannotTest, type Target } from './target.js'

/** Inputs of a run: options, a service, and progress output. */
interface RunNeeds {
  readonly options: Options
  readonly core: string
  readonly apikey: string
  readonly target: Target
  /** Stores of a service that the load tester started; null for another service. */
  readonly ownStores: string | null
  /** Whether the people of the run are deleted when it ends. */
  readonly cleanUp: boolean
  readonly progress: Progress
  /** Aborted by Ctrl-C; the run then begins nothing more, and reports. */
  readonly interrupt: AbortSignal
}

/** Time from the message to the threads until their common start. */
const LEAD_MS = 150
/** A ramp ends if this many steps in a row break their bounds: a single one may be a disturbance. */
const BROKEN_STEPS = 2

/** Enrolls people, generates load, and deletes the people. Returns the report without thresholds; throws `CannotTest`. */
export async function run(needs: RunNeeds): Promise<Report> {
  const { options, progress, interrupt, target } = needs
  const startedAt = new Date().toISOString()
  const crew = startCrew({
    core: needs.core,
    apikey: needs.apikey,
    connections: options.connections,
    timeoutMs: options.timeoutMs,
    workers: options.workers,
    name: options.name,
    seed: options.seed,
    run: createHash('sha256').update(options.name).digest().readUInt16BE() * 16_384,
    data: options.data,
    codes: options.codes,
  })
  interrupt.addEventListener('abort', crew.stop)
  let there = options.people
  try {
    const people = await enrolled(needs, crew)
    there = people.enrolled
    const steps: StepReport[] = []
    for (const rate of options.rates ?? [null]) {
      if (interrupt.aborted) break
      const { report, people: now } = await oneStep(needs, crew, rate)
      there = now
      steps.push(report)
      const last = steps.slice(-BROKEN_STEPS)
      if (last.length === BROKEN_STEPS && last.every(({ passed }) => passed === false)) break
    }
    const { core: _, apikey: _key, metrics: _metrics, json: _json, html: _html, failIf, ...shown } = options
    return {
      schema: 'keystride-load/1',
      started_at: startedAt,
      ended_at: new Date().toISOString(),
      ended: interrupt.aborted ? 'interrupted' : 'complete',
      service: {
        url: needs.core,
        version: target.version,
        own: needs.ownStores !== null,
        stores: needs.ownStores,
        metrics: target.metrics,
        http_provider: target.httpProvider,
      },
      machine: {
        processor: cpus()[0]?.model ?? 'unknown',
        cores: cpus().length,
        memory_gib: Math.round(totalmem() / 2 ** 30),
        node: process.versions.node,
        system: `${type()} ${release()}`,
      },
      options: { ...shown, failIf: failIf.map(({ text }) => text) },
      people,
      steps,
      knee: options.isRamp ? kneeOf(steps) : null,
      thresholds: [],
    }
  } finally {
    if (needs.cleanUp) await removed(needs, crew, there)
    progress.end()
    await crew.close()
  }
}

type Crew = ReturnType<typeof startCrew>

async function enrolled({ options, progress, interrupt }: RunNeeds, crew: Crew): Promise<Report['people']> {
  const all = recorder()
  const begun = performance.now()
  let done = 0
  const total = await crew.enroll(
    options.people,
    ({ seen }) => all.add(seen),
    () => progress.bar('enrolling people', ++done, options.people),
  )
  progress.end()
  if (total < options.people && !interrupt.aborted) {
    throw new CannotTest(`only ${total} of ${options.people} people could be enrolled: ${failures(all)}`)
  }
  const seconds = (performance.now() - begun) / 1000
  return {
    kind: options.data === null ? 'made-up' : 'data set',
    enrolled: total,
    seconds,
    requests_per_s: errorsOf(all).of / seconds,
    enroll_latency_ms: latencyOf(all.of('enroll').latency),
  }
}

/** The failures of enrollment, by request. */
const failures = (all: Recorder): string =>
  (['create', 'bootstrap', 'enroll', 'set-code'] as const)
    .flatMap((name) => {
      const { statuses, transport, wrong } = all.of(name)
      return [...statuses, ...transport, ...wrong]
        .filter(([what]) => !/^20[01]$/.test(what))
        .map(([what, count]) => `${name} ${what} ${count} times`)
    })
    .join(', ') || 'people were classified as machines on every try'

/** Measures one rate or one closed loop; also returns the number of people after it. */
async function oneStep(needs: RunNeeds, crew: Crew, rate: number | null) {
  const { options, interrupt, ownStores } = needs
  const seen = stepSeen()
  const startAt = performance.timeOrigin + performance.now() + LEAD_MS
  const measuredFrom = startAt - performance.timeOrigin + options.warmUpS * 1000
  const live = showLive(needs, seen, rate, measuredFrom)
  let machine: ReturnType<typeof watchMachine> | null = null
  let service: ReturnType<typeof watchService> | null = null
  const atMeasured = setTimeout(() => {
    machine = watchMachine()
    if (needs.target.metrics !== null) service = watchService(needs.target.metrics)
  }, measuredFrom - performance.now())
  let stoppedAt = Number.POSITIVE_INFINITY
  const onStop = () => {
    stoppedAt = performance.now()
  }
  interrupt.addEventListener('abort', onStop)
  const step = {
    startAt,
    rate,
    arrivals: options.arrivals,
    warmUpS: options.warmUpS,
    seconds: options.seconds,
    impostors: options.impostors,
    byCode: options.byCode,
    enroll: options.enroll,
    waitingMax: Math.ceil((2 * (rate ?? 0) * options.timeoutMs) / 1000 / options.workers) + 1000,
    seed: options.seed + 1,
  }
  let people: number
  let serviceSeconds: ServiceSecond[] = []
  try {
    people = await crew.step(step, seen.add)
  } finally {
    clearTimeout(atMeasured)
    clearInterval(live)
    interrupt.removeEventListener('abort', onStop)
    needs.progress.end()
    // Sound: `service` is assigned in a callback, which the compiler does not see.
    serviceSeconds = (await (service as ReturnType<typeof watchService> | null)?.end()) ?? []
  }
  const seconds = Math.max(0.001, Math.min(options.seconds, (stoppedAt - measuredFrom) / 1000))
  const report = stepReport(seen, {
    rate,
    seconds,
    warmUpS: options.warmUpS,
    untilLastS: (performance.now() - measuredFrom) / 1000,
    service: serviceSeconds.filter(({ second }) => second < Math.floor(seconds)),
    machine: (machine ?? watchMachine()).end(),
    connections: options.connections,
    together: ownStores !== null || /^(localhost|127\.|\[::1\])/.test(new URL(needs.core).hostname),
    bounds: options.isRamp ? { p99Ms: options.p99Ms, errors: options.errors } : null,
  })
  return { report, people }
}

function showLive({ options, progress }: RunNeeds, seen: StepSeen, rate: number | null, measuredFrom: number) {
  const label = rate === null ? `${options.connections} connections` : `${rate} sign-ins/s`
  return setInterval(() => {
    const measured = (performance.now() - measuredFrom) / 1000
    if (measured < 0) return progress.bar(`${label}, warming up`, measured + options.warmUpS, options.warmUpS)
    // With several workers the newest second may be incomplete.
    const last = seen.seconds.get(Math.max(...seen.seconds.keys()) - (options.workers > 1 ? 1 : 0))
    const latency = last?.of('verify').latency
    const figures = {
      perS: last?.counted('signins_completed') ?? 0,
      p50Ms: latency?.quantileMs(QUANTILES.p50) ?? null,
      p99Ms: latency?.quantileMs(QUANTILES.p99) ?? null,
      errors: errorsOf(seen.all).all,
    }
    progress.bar(label, measured, options.seconds, liveFigures(figures))
  }, 500)
}

async function removed({ progress, options }: RunNeeds, crew: Crew, all: number): Promise<void> {
  let done = 0
  let why = ''
  const onProgress = () => progress.bar('deleting the people of the run', ++done, all)
  const onKept = (last: string) => {
    why = ` (${last})`
  }
  const left = await crew.remove(onProgress, onKept).catch(() => 'some')
  progress.end()
  if (left !== 0)
    progress.say(`${left} people could not be deleted${why}: their userRefs are load-${options.name}-<number>`)
}
