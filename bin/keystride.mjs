#!/usr/bin/env node
// The administration command.
import './node-version.mjs'
import { prepare } from './prepare.mjs'

prepare()
const { keystride } = await import('../build/src/cli/keystride.js')
await keystride(process.argv, process.env)
