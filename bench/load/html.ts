import { escaped } from './plot.js'
import { percentilePlot, rampPlots, timePlots } from './plots.js'
import { shownMs, shownNumber, shownShare } from './quantities.js'
import type { Report, StepReport } from './report-schema.js'
import { offlinePage } from './style.js'
import {
  accuracyLines,
  errorLine,
  kneeLine,
  loopOf,
  mainStep,
  operationRows,
  stepHead,
  stepRow,
} from './text-report.js'

/** The report as a page. */
export function htmlReport(report: Report): string {
  const step = mainStep(report) ?? report.steps.at(-1)
  const knee = kneeLine(report)
  return offlinePage(
    `Load test of ${report.service.url}`,
    `<header>
<h1>Load test of ${escaped(report.service.url)}</h1>
<p>${escaped(report.started_at.slice(0, 19).replace('T', ' '))} UTC to ${escaped(report.ended_at.slice(11, 19))}${report.ended === 'interrupted' ? ', <strong>interrupted: figures until then</strong>' : ''}</p>
</header>
${step === undefined ? '<p>No step was measured.</p>' : tiles(step)}
${knee === null ? '' : `<p class="verdict">${escaped(knee)}</p>`}
${thresholds(report)}
${report.knee === null ? '' : `<section><h2>Ramp</h2>${rampPlots(report)}${table([stepHead(true), ...report.steps.map(stepRow)])}</section>`}
${step === undefined ? '' : stepSection(report, step)}
<section><h2>Over time</h2>${timePlots(report.steps)}</section>
${conditions(report)}`,
  )
}

function tiles(step: StepReport): string {
  const latency = step.operations.verify?.latency_ms
  const all: [string, string][] = [
    [`sign-ins completed, ${loopOf(step)}`, `${shownNumber(step.goodput_per_s)}/s`],
    ['verify p50', shownMs(latency?.p50 ?? null)],
    ['verify p99', shownMs(latency?.p99 ?? null)],
    ['verify p99.9', shownMs(latency?.['p99.9'] ?? null)],
    ['errors', shownShare(step.errors.share)],
    ['load generator', step.health.sound ? 'kept up' : 'strained'],
  ]
  return `<div class="tiles">${all.map(([name, value]) => `<div><b>${escaped(value)}</b><span>${escaped(name)}</span></div>`).join('')}</div>`
}

const thresholds = ({ thresholds: all }: Report): string =>
  all.length === 0
    ? ''
    : `<ul class="thresholds">${all.map(({ text, measured, passed }) => `<li class="${passed ? 'held' : 'failed'}">${passed ? 'holds' : 'fails'}: fail if ${escaped(text)} (${escaped(measured)})</li>`).join('')}</ul>`

const stepSection = (
  report: Report,
  step: StepReport,
): string => `<section><h2>${escaped(report.knee?.rate == null ? 'Requests' : `Requests at the knee, ${loopOf(step)}`)}</h2>
${percentilePlot(step)}
${table(operationRows(step))}
<ul>${[errorLine(step), ...accuracyLines(step), ...step.health.reasons].map((line) => `<li>${escaped(line)}</li>`).join('')}</ul>
<p class="note">Measured for ${step.seconds.toFixed(1)} s after ${step.warm_up_s} s of warm-up, which is in no figure. Latency counts from the intended
start of a request, so that a stall counts for every request due during it; "p99 once sent" excludes that wait.</p></section>`

function conditions({ service, machine, people, options }: Report): string {
  const rows: [string, string][] = [
    [
      'service',
      `version ${service.version}${service.stores === null ? '' : `, ${service.stores}`}${service.own ? ', on the machine of the load generator' : ''}`,
    ],
    ['HTTP provider', service.http_provider ?? 'unknown'],
    ['metrics of the service', service.metrics ?? 'unreachable'],
    [
      'load generator',
      `${machine.cores} x ${machine.processor}, ${machine.memory_gib} GiB, Node ${machine.node}, ${machine.system}`,
    ],
    [
      'people',
      `${people.enrolled} ${people.kind}, enrolled in ${people.seconds.toFixed(1)} s (${shownNumber(people.requests_per_s)} requests/s, enroll p99 ${shownMs(people.enroll_latency_ms.p99)})`,
    ],
    ...Object.entries(options).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ]
  return `<section><h2>Conditions</h2>${table([['what', 'value'], ...rows], 'facts')}</section>`
}

const table = ([head = [], ...rows]: readonly (readonly string[])[], kind = 'figures'): string =>
  `<div class="wide"><table class="${kind}"><thead><tr>${head.map((cell) => `<th>${escaped(cell)}</th>`).join('')}</tr></thead><tbody>${rows
    .map((row) => `<tr>${row.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`)
    .join('')}</tbody></table></div>`
