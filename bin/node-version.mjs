// Ends a Node that is too old, before anything is installed or loaded. `npm start` runs it on Node 12 too, which Ubuntu 22.04 has, so
// it uses no newer syntax.
import { readFileSync } from 'node:fs'

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const numbers = (version) => version.replace(/^\D+/, '').split('.').map(Number)
const [major, minor] = numbers(engines.node)
const [ownMajor, ownMinor] = numbers(process.version)
if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  console.error(
    `keystride: this is Node ${process.version} (${process.execPath}); Node ${major}.${minor} or newer is needed, and Node 24 recommended`,
  )
  process.exit(1)
}
