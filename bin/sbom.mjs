#!/usr/bin/env node
// `npm run --silent sbom > sbom.cdx.json`: the production tree of package-lock.json as CycloneDX, on standard output.
import { readFileSync } from 'node:fs'
import { prepare } from './prepare.mjs'

prepare()
const { cyclonedx } = await import('../build/src/cli/sbom.js')
const { pinnedBinaries } = await import('../build/src/http/provider-pins.js')
const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'))
process.stdout.write(`${JSON.stringify(cyclonedx(lock, pinnedBinaries), null, 2)}\n`)
