#!/usr/bin/env node
// `npm run figures -- REPORT...`: writes docs/figures.json, the figures that README and docs print, from reports of
// `npm run bench -- ratio --json FILE` and `npm run bench -- accuracy --json FILE`. test/figures.test.ts then names the tables to change.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true })
const out = values.out ?? fileURLToPath(new URL('../docs/figures.json', import.meta.url))

const whole = (value) => Math.round(value).toLocaleString('en')
const percent = (share, [low, high], digits) =>
  `${(100 * share).toFixed(digits)} [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`
const short = (ratio) => ratio.toFixed(ratio < 0.1 ? 3 : ratio < 2 ? 2 : 1)
const spread = ({ median, min, max }) => `${short(median)} (${short(min)} to ${short(max)})`

/** Only P1 and P2: the model was fitted on the people of P3 and P4, whose figures come out of fold from `keystride calibrate`. */
const accuracy = ({ P1, P2 }) => {
  const row = ({ intervals, people, ...shares }) => ({
    global_eer: percent(shares.global_eer, intervals.global_eer, 2),
    per_user_eer: percent(shares.per_user_eer, intervals.per_user_eer, 2),
    fnmr_at_1pct: percent(shares.fnmr_at_1pct, intervals.fnmr_at_1pct, 1),
    fnmr_at_01pct: percent(shares.fnmr_at_01pct, intervals.fnmr_at_01pct, 1),
    people: whole(people),
  })
  return { date: new Date().toISOString().slice(0, 10), P1: row(P1), P2: row(P2) }
}

const ratio = ({ at, machine, spread: ratios, turns, scan, idle_cpu_percent }) => ({
  date: at.slice(0, 10),
  machine: `${machine.cores} cores of ${machine.cpu}, ${machine.memory_gib} GiB, Node ${machine.node.slice(1)}`,
  ...Object.fromEntries(Object.entries(ratios).map(([name, found]) => [name, spread(found)])),
  scan_over_parse: short(scan.ratio),
  idle_cpu_percent: idle_cpu_percent === null ? null : idle_cpu_percent.toFixed(1),
  verify_over_read_only_64_percent: (100 * ratios.verify_over_read_only_64.median).toFixed(1),
  ...Object.fromEntries(Object.entries(turns).map(([name, { per_s }]) => [`${name}_per_s`, whole(per_s.median)])),
})

const figures = JSON.parse(readFileSync(out, 'utf8'))
for (const file of positionals) {
  const report = JSON.parse(readFileSync(file, 'utf8'))
  if ('turns' in report) Object.assign(figures.ratio, ratio(report))
  else if ('P1' in report) Object.assign(figures.accuracy, accuracy(report))
  else throw new Error(`${file} is neither a report of the bench ratio nor one of the bench accuracy`)
}
writeFileSync(out, `${JSON.stringify(figures, null, 2)}\n`)
