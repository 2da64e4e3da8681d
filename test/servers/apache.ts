import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { answersAt, startServer } from './child.js'

const PROGRAM = '/usr/sbin/apache2'
const MODULES = '/usr/lib/apache2/modules'

/** Whether Apache and mod_auth_openidc of Debian are installed. */
export const hasApache = existsSync(PROGRAM) && existsSync(`${MODULES}/mod_auth_openidc.so`)
if (!hasApache && process.env.REQUIRE_APACHE === '1')
  throw new Error('apache2 and libapache2-mod-auth-openidc are not installed, and REQUIRE_APACHE is set')

/** An Apache in front of an application, configured as in docs/sso.md. */
interface Apache {
  readonly url: string
  close(): Promise<void>
}

const page = fileURLToPath(new URL('../../docs/sso.md', import.meta.url))

interface Addresses {
  readonly port: number
  readonly issuer: string
  readonly clientSecret: string
  /** The application behind Apache. */
  readonly application: string
}

/** The configuration of docs/sso.md with addresses of this machine. */
function configuration(folder: string, { port, issuer, clientSecret, application }: Addresses): string {
  const text = /```apache\n([\s\S]*?)```/.exec(readFileSync(page, 'utf8'))?.[1] ?? ''
  const local = text
    .replace('https://sso.example.org', issuer)
    .replaceAll('https://wiki.example.org', `http://localhost:${port}`)
    .replace('<the secret of the client>', clientSecret)
    .replace('/run/secrets/apache', join(folder, 'passphrase'))
    .replaceAll('http://127.0.0.1:3000/', application)
    .replace('OIDCProviderMetadataURL', 'OIDCSSLValidateServer Off\nOIDCProviderMetadataURL')
  if (local.includes('example.org') || local.includes('/run/secrets') || !local.includes(application))
    throw new Error('docs/sso.md has another configuration of Apache than this function expects')
  const modules = ['mpm_event', 'authz_core', 'authz_user', 'authn_core', 'auth_openidc', 'proxy', 'proxy_http']
  return `ServerRoot ${folder}
PidFile ${folder}/pid
Mutex file:${folder} default
Listen 127.0.0.1:${port}
ServerName http://localhost:${port}
ErrorLog ${folder}/error.log
${modules.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`).join('\n')}
${local}`
}

export async function startApache(addresses: Addresses): Promise<Apache> {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-apache-'))
  const file = join(folder, 'apache2.conf')
  writeFileSync(file, configuration(folder, addresses))
  writeFileSync(join(folder, 'passphrase'), 'the passphrase of a test')
  const log = () => (existsSync(join(folder, 'error.log')) ? readFileSync(join(folder, 'error.log'), 'utf8') : '')
  const url = `http://localhost:${addresses.port}`
  const isReady = () => answersAt(url)
  const stop = await startServer(PROGRAM, ['-D', 'FOREGROUND', '-f', file], { folder, isReady, signal: 'SIGTERM', log })
  return {
    url,
    close() {
      if (process.env.KEYSTRIDE_SHOW_LOG) process.stderr.write(log())
      return stop()
    },
  }
}
