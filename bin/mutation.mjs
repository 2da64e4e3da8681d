#!/usr/bin/env node
// `npm run test:mutation`: puts small bugs into the rules, one at a time, and prints how many of them a test detects. Fails
// below the threshold. Arguments: the files to mutate, all unless given.
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fromTests } from './from-tests.mjs'
import { prepare } from './prepare.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
process.chdir(root)
prepare()
const { holds, MUTATED, scores, tableText } = await fromTests('mutation/scores')

const asked = process.argv.slice(2)
if (asked.some((file) => !MUTATED.includes(file))) {
  process.stderr.write(`usage: npm run test:mutation -- [FILE ...]\nfiles:\n  ${MUTATED.join('\n  ')}\n`)
  process.exit(2)
}
const files = asked.length === 0 ? MUTATED : asked

const { Stryker } = await import('@stryker-mutator/core')
const mutants = await new Stryker({
  mutate: files,
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/mutation/vitest.config.ts' },
  concurrency: availableParallelism(),
  // Long, so that Stryker does not take a busy machine for an endless loop.
  timeoutMS: 20_000,
  ignorePatterns: ['*', '!src/**', '!test/**', '!package.json', '!tsconfig.json'],
  tempDirName: 'coverage/mutation/sandbox',
  cleanTempDir: 'always',
  reporters: ['progress-append-only', 'clear-text', 'html'],
  clearTextReporter: { allowColor: process.stdout.isTTY === true, reportTests: false, reportScoreTable: false },
  htmlReporter: { fileName: 'coverage/mutation/report.html' },
  warnings: { slow: false },
}).runMutationTest()

const table = scores(files, mutants)
process.stdout.write(`\n${tableText(table)}\n`)
process.exit(holds(table) ? 0 : 1)
