import { createHash } from 'node:crypto'
import { join, relative } from 'node:path'
import { expect } from 'vitest'

/**
 * Runs before each test file of `npm run test:trust`. Each file writes its figures to its own file, so that a test file
 * without figures is noticed.
 */
const folder = process.env.TRUST_FOLDER
const file = expect.getState().testPath
if (folder === undefined || file === undefined) throw new Error('only bin/trust.mjs starts this')
process.env.TRUST_FIGURES = join(folder, createHash('sha256').update(relative(process.cwd(), file)).digest('hex'))
