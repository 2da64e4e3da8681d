import { shownMs, shownNumber, shownShare } from './quantities.js'
import { OPERATIONS } from './recorder.js'
import type { Report, StepReport } from './report-schema.js'

/** Rows as aligned columns, numbers to the right; the first row is the head. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
    )
    .join('\n')
}

/** Name of a step. */
export const loopOf = ({ rate }: StepReport): string => (rate === null ? 'closed loop' : `${shownNumber(rate)}/s`)

/** The row of a step in the table of steps. */
export function stepRow(step: StepReport): string[] {
  const latency = step.operations.verify?.latency_ms
  const quantiles = (['p50', 'p90', 'p99', 'p99.9'] as const).map((name) => shownMs(latency?.[name] ?? null))
  return [
    loopOf(step),
    shownNumber(step.goodput_per_s),
    shownNumber(step.requests_per_s),
    ...quantiles,
    shownShare(step.errors.share),
    step.health.sound ? 'kept up' : 'strained',
    ...(step.passed === null ? [] : [step.passed ? 'held' : 'broke']),
  ]
}
/** The head of the table of steps. */
export const stepHead = (isRamp: boolean): string[] => [
  'sign-ins',
  'goodput/s',
  'requests/s',
  'verify p50',
  'p90',
  'p99',
  'p99.9',
  'errors',
  'generator',
  ...(isRamp ? ['bounds'] : []),
]

/** One row per kind of request, with a head; `signin` is the whole sign-in. */
export function operationRows(step: StepReport): string[][] {
  const head = [
    'request',
    'answers',
    'p50',
    'p90',
    'p99',
    'p99.9',
    'max',
    'p99 once sent',
    'statuses',
    'without answer',
  ]
  const listed = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([name, count]) => `${name}: ${count.toLocaleString('en')}`)
      .join(' ') || '-'
  return [
    head,
    ...OPERATIONS.flatMap((name) => {
      const operation = step.operations[name]
      if (operation === undefined) return []
      const { latency_ms: latency } = operation
      return [
        [
          name === 'signin' ? 'whole sign-in' : name,
          operation.answers.toLocaleString('en'),
          ...(['p50', 'p90', 'p99', 'p99.9', 'max'] as const).map((quantile) => shownMs(latency[quantile])),
          shownMs(operation.service_ms.p99),
          listed(operation.statuses),
          listed({ ...operation.transport, ...operation.wrong }),
        ],
      ]
    }),
  ]
}

/** Accuracy under load, one line per figure. */
export function accuracyLines({ accuracy: a }: StepReport): string[] {
  const of = (some: number, all: number) => `${some.toLocaleString('en')} of ${all.toLocaleString('en')}`
  const rejected = a.genuine_patterns - a.genuine_accepted
  return [
    `genuine patterns not accepted: ${of(rejected, a.genuine_patterns)} (${shownShare(a.false_reject_share)}): ` +
      `${a.genuine_challenged} challenged, ${a.genuine_blocked} blocked, ${a.genuine_called_bots} classified as bots, ${a.genuine_called_replays} as replays`,
    `genuine sign-ins that ended authenticated: ${of(a.genuine_signins_authenticated, a.genuine_signins)}`,
    `impostors accepted: ${of(a.impostor_accepted, a.impostor_patterns)} (${shownShare(a.false_accept_share)})`,
    `security codes accepted: ${of(a.codes_accepted, a.codes)}; new people enrolled: ${a.people_enrolled}`,
    ...(a.attempts_refused + a.members_locked > 0
      ? [`locked: ${a.members_locked} members, ${a.attempts_refused} attempts refused without scoring`]
      : []),
  ]
}

/** One line with the errors of a step by kind. */
export function errorLine({ errors: e }: StepReport): string {
  return (
    `errors: ${shownShare(e.share)} of requests (${e.transport} without an answer, ${e.overloaded} answered 503 or 429, ` +
    `${e.unwanted} with another status, ${e.wrong} with a wrong body, ${e.dropped} never sent)`
  )
}

/** The step for thresholds and details: the knee of a ramp, else the only step; null if no step kept its bounds. */
export function mainStep(report: Pick<Report, 'steps' | 'knee'>): StepReport | null {
  const { steps, knee } = report
  if (knee === null) return steps[0] ?? null
  return steps.find(({ rate }) => rate === knee.rate) ?? null
}

/** Whether the generator was overloaded in the main step, or where the ramp broke: then the figures are meaningless. */
export function strained(report: Pick<Report, 'steps' | 'knee'>): boolean {
  const step = mainStep(report)
  const broke = report.knee === null ? undefined : report.steps[step === null ? 0 : report.steps.indexOf(step) + 1]
  return [step, broke].some((one) => one?.health.sound === false)
}

/** One line with the knee and its bounds; null without a ramp. */
export function kneeLine({ knee, options }: Report): string | null {
  if (knee === null) return null
  const bounds = `p99 of bootstrap and verify within ${shownMs(Number(options.p99Ms))}, errors within ${shownShare(Number(options.errors))}`
  const rate = knee.rate === null ? 'below the first rate' : `${shownNumber(knee.rate)} sign-ins/s`
  return `knee: ${rate} (${bounds}); the limit was ${knee.limit}`
}

/** The report for a terminal. */
export function textReport(report: Report): string {
  const { steps, service, machine, people } = report
  const step = mainStep(report) ?? steps.at(-1)
  const knee = kneeLine(report)
  return [
    `service    ${service.url}, version ${service.version}${service.stores === null ? '' : `, ${service.stores}`}`,
    `HTTP       ${service.http_provider ?? 'not reported'}`,
    `generator  ${machine.cores} x ${machine.processor}, Node ${machine.node}${service.own ? ', the service on the same machine' : ''}`,
    `people     ${people.enrolled} ${people.kind}, enrolled in ${people.seconds.toFixed(1)} s (enroll p50 ${shownMs(people.enroll_latency_ms.p50)}, p99 ${shownMs(people.enroll_latency_ms.p99)})`,
    ...(report.ended === 'interrupted' ? ['interrupted: figures until then'] : []),
    '',
    columns([stepHead(report.knee !== null), ...steps.map(stepRow)]),
    ...(knee === null ? [] : ['', knee]),
    ...(step === undefined ? [] : ['', ...detail(step, steps.length > 1)]),
    ...(strained(report) ? ['', 'inconclusive: the load generator was strained'] : []),
    ...(report.thresholds.length === 0 ? [] : ['']),
    ...report.thresholds.map(
      ({ text, measured, passed }) => `${passed ? 'holds' : 'FAILS'}  fail if ${text}: ${measured}`,
    ),
    '',
  ].join('\n')
}

const detail = (step: StepReport, named: boolean): string[] => [
  ...(named ? [`at ${loopOf(step)}:`] : []),
  columns(operationRows(step)),
  '',
  errorLine(step),
  ...accuracyLines(step),
  step.health.sound
    ? 'load generator: kept up'
    : 'load generator: strained, so these figures are not those of the service alone',
  ...step.health.reasons.map((reason) => `  ${reason}`),
  ...(step.rate === null
    ? []
    : [`sign-ins began late by ${shownMs(step.health.late_p99_ms)} at the 99th percentile; the latency includes it`]),
  `measured for ${step.seconds.toFixed(1)} s after ${step.warm_up_s} s of warm-up, which is in no figure; latency counts from the intended start`,
]
