#!/usr/bin/env node
// `npm run build`: builds everything, regardless of the stamps.
import { prepare } from './prepare.mjs'

prepare({ force: true })
