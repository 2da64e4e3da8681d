#!/usr/bin/env node
// `npm run build`: builds again whatever the stamps say.
import { prepare } from './prepare.mjs'

prepare({ force: true })
