import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Null if openssl is installed, otherwise the reason to skip its tests. Throws instead under `REQUIRE_OPENSSL=1`. */
export function whyNoOpenssl(): string | null {
  if (spawnSync('openssl', ['version']).status === 0) return null
  const line = 'NO OPENSSL: certificates that expire, and the rotation of keys, are SKIPPED (put openssl on PATH)'
  if (process.env.REQUIRE_OPENSSL === '1') throw new Error(line)
  return line
}

const AUTHORITY = `[ca]
default_ca = one
[one]
database = index
new_certs_dir = .
serial = serial
default_md = sha256
policy = any
copy_extensions = copy
[any]
commonName = supplied
`
const DAY_MS = 86_400_000

/** A self-signed certificate of localhost and 127.0.0.1, valid between two days that count from today. */
export function selfSigned(fromDay: number, toDay: number): { readonly cert: string; readonly key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-openssl-'))
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const at = (day: number) =>
    `${new Date(Date.now() + day * DAY_MS).toISOString().replace(/\..*$/, '').replace(/[-:T]/g, '')}Z`
  try {
    writeFileSync(join(folder, 'authority'), AUTHORITY)
    writeFileSync(join(folder, 'index'), '')
    writeFileSync(join(folder, 'serial'), '01\n')
    // Each certificate has its own subject, because an authority is looked up by its subject.
    const names = ['-subj', `/CN=days ${fromDay} to ${toDay}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key']
    openssl('req', '-new', ...key, '-out', 'request', ...names)
    const dates = ['-startdate', at(fromDay), '-enddate', at(toDay)]
    const sign = ['-batch', '-notext', '-selfsign', '-keyfile', 'key', '-in', 'request', '-out', 'certificate']
    openssl('ca', '-config', 'authority', ...sign, ...dates)
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    return { cert: read('certificate'), key: read('key') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
