#!/usr/bin/env node
// `npm run figures -- REPORT...`: writes docs/figures.json, the figures that README and docs print, from reports of
// `npm run bench -- ratio --json FILE` and `npm run bench -- accuracy --json FILE`, and from the standard output of `keystride calibrate`.
// test/figures.test.ts then names the tables to change.
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

const row = ({ intervals, people, ...shares }) => ({
  global_eer: percent(shares.global_eer, intervals.global_eer, 2),
  per_user_eer: percent(shares.per_user_eer, intervals.per_user_eer, 2),
  fnmr_at_1pct: percent(shares.fnmr_at_1pct, intervals.fnmr_at_1pct, 1),
  fnmr_at_01pct: percent(shares.fnmr_at_01pct, intervals.fnmr_at_01pct, 1),
  people: whole(people),
})
const rows = (protocols) => ({
  date: new Date().toISOString().slice(0, 10),
  ...Object.fromEntries(Object.entries(protocols).map(([name, found]) => [name, row(found)])),
})

/** Protocols on people of whom the shipped model was fitted on all: their figures come out of fold from `keystride calibrate`. */
const FITTED = ['P3', 'P3_one_hand', 'P4', 'P6_l2']
const accuracy = (report) => rows(Object.fromEntries(Object.entries(report).filter(([name]) => !FITTED.includes(name))))

/** The figures in the output of `keystride calibrate`; null if there are none. */
function outOfFold(output) {
  const found = [...output.matchAll(/^(\w+), out of fold: (.*)$/gm)].filter(([, name]) => FITTED.includes(name))
  if (found.length === 0) return null
  const reports = found.map(([, name, json]) => {
    const { figures, intervals } = JSON.parse(json)
    return [name, { ...figures, intervals }]
  })
  return rows(Object.fromEntries(reports))
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
  const text = readFileSync(file, 'utf8')
  const fitted = outOfFold(text)
  if (fitted !== null) {
    Object.assign(figures.out_of_fold, fitted)
    continue
  }
  const report = JSON.parse(text)
  if ('turns' in report) Object.assign(figures.ratio, ratio(report))
  else if ('P1' in report) Object.assign(figures.accuracy, accuracy(report))
  else throw new Error(`${file} is no report of the bench ratio or accuracy, and no output of keystride calibrate`)
}
writeFileSync(out, `${JSON.stringify(figures, null, 2)}\n`)
