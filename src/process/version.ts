import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../scoring/artifacts.js'

/** Version of the running build, from its package.json. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'))
  const found = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : null
  if (typeof found !== 'string') throw new Error('package.json has no version')
  return found
}
