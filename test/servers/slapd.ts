import { type ChildProcess, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { startChild } from './child.js'

export const hasSlapd = existsSync('/usr/sbin/slapd')
if (!hasSlapd && process.env.REQUIRE_SLAPD === '1') throw new Error('slapd is not installed, and REQUIRE_SLAPD is set')

export const BASE = 'dc=example,dc=org'
export const READER = { dn: `cn=reader,${BASE}`, password: 'the reader of the directory' }

/** A person of a test's directory. */
interface LdapPerson {
  readonly uid: string
  readonly cn?: string
  readonly mail?: string
  /** An attribute whose letters the server compares exactly. */
  readonly labeledURI?: string
}

/** OpenLDAP's server with these people, readable by `READER` only. */
export async function startSlapd(people: readonly LdapPerson[]) {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-slapd-'))
  mkdirSync(join(folder, 'data'))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const schema = ['core', 'cosine', 'inetorgperson'].map((name) => `include /etc/ldap/schema/${name}.schema`)
  const configuration = file(
    'slapd.conf',
    `${schema.join('\n')}
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile ${folder}/pid
database mdb
suffix "${BASE}"
rootdn "${READER.dn}"
rootpw "${READER.password}"
directory ${folder}/data
access to * by * none
`,
  )
  const entries = people.map(
    ({ uid, cn = uid, mail, labeledURI }, n) => `dn: employeeNumber=${n},${BASE}
objectClass: inetOrgPerson
employeeNumber: ${n}
uid: ${uid}
cn: ${cn}
sn: ${cn}
${mail === undefined ? '' : `mail: ${mail}\n`}${labeledURI === undefined ? '' : `labeledURI: ${labeledURI}\n`}`,
  )
  const ldif = file(
    'people.ldif',
    [`dn: ${BASE}\nobjectClass: dcObject\nobjectClass: organization\no: Test\ndc: example\n`, ...entries].join('\n'),
  )
  const added = spawnSync('/usr/sbin/slapadd', ['-f', configuration, '-l', ldif], { encoding: 'utf8' })
  if (added.status !== 0) throw new Error(`slapadd: ${added.stderr}`)
  const port = await freePort()
  let server = await listen(configuration, port)
  const stop = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill()
    await ended
  }
  return {
    url: `ldap://127.0.0.1:${port}`,
    stop,
    async start() {
      server = await listen(configuration, port)
    },
    async close() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function listen(configuration: string, port: number): Promise<ChildProcess> {
  const server = startChild('/usr/sbin/slapd', ['-f', configuration, '-h', `ldap://127.0.0.1:${port}`, '-d', '0'], {
    stdio: 'ignore',
  })
  for (let tries = 0; !(await answers(port)); tries++) {
    if (tries > 100) throw new Error('slapd does not listen')
    await delay(50)
  }
  return server
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
