#!/usr/bin/env node
// `npm run monitoring` writes the table of alerts in docs/monitoring.md from deploy/prometheus/keystride.rules.yml. With --check it writes
// nothing, and ends with status 1 if the table differs. `npm run --silent monitoring -- dashboard` prints the dashboard for Grafana.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { dashboardOf } from '../deploy/grafana/dashboard.mjs'

const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const PAGE = 'docs/monitoring.md'
const pathOf = (file) => fileURLToPath(new URL(`../${file}`, import.meta.url))
const read = (file) => readFileSync(pathOf(file), 'utf8')

/** The alerts by section of the runbook; those that page a person are bold. */
function alertTable() {
  const { groups } = parse(read('deploy/prometheus/keystride.rules.yml'))
  const sections = new Map()
  for (const { alert, labels, annotations } of groups.flatMap(({ rules }) => rules)) {
    if (alert === undefined) continue
    const link = annotations.runbook.replace(/^docs\//, '')
    const name = labels.severity === 'page' ? `**${alert}**` : alert
    sections.set(link, [...(sections.get(link) ?? []), name])
  }
  const titled = (link) => `[${link.replace(/.*#/, '').replaceAll('-', ' ')}](${link})`
  const rows = [...sections].map(([link, names]) => `| ${titled(link)} | ${names.join(', ')} |`)
  return ['| runbook | alerts |', '|---|---|', ...rows].join('\n')
}

function page() {
  const [begin, end] = ['<!-- alerts -->\n', '\n<!-- /alerts -->']
  const text = read(PAGE)
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${PAGE} has no <!-- alerts --> and <!-- /alerts -->: wanted both`)
  return text.slice(0, from + begin.length) + alertTable() + text.slice(to)
}

if (positionals[0] === 'dashboard') process.stdout.write(`${JSON.stringify(dashboardOf(), null, 2)}\n`)
else if (!values.check) writeFileSync(pathOf(PAGE), page())
else if (read(PAGE) !== page()) {
  console.error(`${PAGE} differs from the output of npm run monitoring: run it`)
  process.exitCode = 1
}
