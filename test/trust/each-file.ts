import { createHash } from 'node:crypto'
import { join, relative } from 'node:path'
import { expect } from 'vitest'

/**
 * Run before every test file of `npm run test:trust`: its figures go into a file of its own, so that a file that says
 * none is noticed.
 */
const folder = process.env.TRUST_FOLDER
const file = expect.getState().testPath
if (folder === undefined || file === undefined) throw new Error('started by bin/trust.mjs alone')
process.env.TRUST_FIGURES = join(folder, createHash('sha256').update(relative(process.cwd(), file)).digest('hex'))
