import { describe } from 'vitest'
import { agreesOn } from './scanned.js'

/** Bodies over all kinds, and their seed. A million bodies take half an hour of a core and are run before a release. */
const BODIES = Number(process.env.SCAN_BODIES ?? 40_000)
const SEED = Number(process.env.SCAN_SEED ?? 2)

describe(`scan, on ${BODIES} bodies`, { timeout: Math.max(300_000, 20 * BODIES) }, () => agreesOn(BODIES, SEED))
