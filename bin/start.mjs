#!/usr/bin/env node
// `npm start`: everything from a clean clone to a serving process.
import { prepare } from './prepare.mjs'

prepare()
const { start } = await import('../build/src/main.js')
await start(process.env)
