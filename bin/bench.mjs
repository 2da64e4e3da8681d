#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { prepare } from './prepare.mjs'

/** The benches by the question that each answers. */
const BENCHES = {
  load: {
    file: 'load/load.js',
    question: 'How many sign-ins a second does a deployment hold, and how long do people wait?',
  },
  ratio: {
    file: 'ratio/ratio.js',
    question: 'How fast are a verify and a sign-in, compared with their bounds and a conventional service?',
  },
  path: {
    file: 'path/path.js',
    question: 'What does each step of a verify cost, each request that the planner counts, and a sign-in?',
  },
  growth: {
    file: 'growth/growth.js',
    question: 'Does a verify stay as fast with more people, authentications, references and keys?',
  },
  plan: { file: 'plan/plan.js', question: 'Does the rate that the planner predicts match the measured rate?' },
  dashboard: {
    file: 'growth/dashboard.js',
    question: 'How long do the reads of the dashboard take over a million attempts?',
  },
  accuracy: { file: 'accuracy/accuracy.js', question: 'How well does the model distinguish people, on open data?' },
  gate: { file: 'accuracy/gate.js', question: 'Does the accuracy on few people of the open data hold its limits?' },
  adaptation: {
    file: 'accuracy/adaptation.js',
    question: 'How does learning change the acceptance of owners and impostors, on open data?',
  },
  words: {
    file: 'accuracy/words.js',
    question: 'What accuracy does the choice of the suggested words gain, on open data?',
  },
}

const [name = '--help', ...options] = process.argv.slice(2)
if (name === '--help' || name === '-h') {
  const width = Math.max(...Object.keys(BENCHES).map(({ length }) => length))
  const lines = Object.entries(BENCHES).map(([each, { question }]) => `  ${each.padEnd(width)}  ${question}`)
  process.stdout.write(`npm run bench -- NAME [options]; NAME --help lists the options\n\n${lines.join('\n')}\n`)
  process.exit(0)
}
if (!Object.hasOwn(BENCHES, name)) {
  process.stderr.write(`there is no bench ${JSON.stringify(name)}: npm run bench lists them\n`)
  process.exit(2)
}
prepare()
const file = fileURLToPath(new URL(`../build/bench/${BENCHES[name].file}`, import.meta.url))
// Ctrl-C also reaches the bench, which may still write a report: this process waits until the bench ends.
const bench = spawn(process.execPath, [file, ...options], { stdio: 'inherit' })
process.on('SIGINT', () => {})
process.on('SIGTERM', () => bench.kill('SIGTERM'))
bench.on('exit', (status) => process.exit(status ?? 1))
