#!/usr/bin/env node
// `npm start`: installs, builds and starts the service.
import { prepare } from './prepare.mjs'

prepare()
const { start } = await import('../build/src/main.js')
await start(process.env)
