import { type ChildProcess, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostList } from '../../src/domain/alert-host.js'
import { sendSyslog } from '../../src/jobs/channels/syslog.js'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { until } from '../harness/patience.js'
import { startChild } from '../servers/child.js'

const there = spawnSync('rsyslogd', ['-v']).status === 0
const line = 'NO RSYSLOG: its suite is SKIPPED (put rsyslogd on PATH)'
if (!there && process.env.REQUIRE_RSYSLOG === '1') throw new Error(line)
if (!there) console.warn(`\n*** ${line} ***\n`)

describe.runIf(there)('alerts in rsyslog', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-rsyslog-'))
  const file = join(folder, 'taken.json')
  let daemon: ChildProcess
  let port: number
  beforeAll(async () => {
    port = await freePort()
    const fields = {
      ...{ facility: 'syslogfacility-text', severity: 'syslogseverity-text', app: 'app-name' },
      ...{ kind: 'msgid', data: 'structured-data', text: 'msg' },
    }
    const template = Object.entries(fields).map(([name, property]) => `"${name}":"%${property}:::json%"`)
    writeFileSync(
      join(folder, 'rsyslog.conf'),
      [
        `global(workDirectory="${folder}")`,
        'module(load="imtcp")',
        'module(load="imudp")',
        `template(name="taken" type="string" string="{${template.join(',').replaceAll('"', '\\"')}}\\n")`,
        `input(type="imtcp" address="127.0.0.1" port="${port}")`,
        `input(type="imudp" address="127.0.0.1" port="${port}")`,
        `action(type="omfile" file="${file}" template="taken")`,
        '',
      ].join('\n'),
    )
    daemon = startChild('rsyslogd', ['-n', '-f', join(folder, 'rsyslog.conf'), '-i', join(folder, 'pid')], {
      stdio: 'ignore',
    })
    await until(() => listens(port))
  })
  afterAll(async () => {
    const ended = new Promise((resolve) => daemon.once('exit', resolve))
    daemon.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true })
  })
  /** The messages of the service, without the daemon's own. */
  const taken = (): Record<string, string>[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter((text) => text !== '')
          .map((text) => JSON.parse(text))
          .filter(({ app }) => app === 'keystride')
      : []

  it('are one message each, field by field, whatever they carry', async () => {
    const hosts = hostList(['127.0.0.1'])
    if ('unreadable' in hosts) throw new Error('a list of this test cannot be read')
    const needs = { hosts, closedPorts: new Set<number>(), ca: null, deadlineMs: 5000 }
    const forged = '<13>1 - - forged - - - -'
    const users = ['ada', 'a"]b\\c', `x\n${forged}`, `y\r\n40 ${forged} hello`, 'z\u0000\u2028']
    const outcomes: string[] = []
    for (const transport of ['udp', 'tcp'] as const)
      for (const userRef of users) {
        const settings = { host: '127.0.0.1', port, transport, facility: 'local5', app_name: 'keystride' } as const
        const event = { kind: 'replay', at: Date.now(), userRef, memberRef: userRef, details: {} } as const
        outcomes.push(await sendSyslog(needs, settings, { id: uuid(), organizationId: uuid(), event, test: null }))
      }
    expect(outcomes).toEqual([...Array(5).fill('sent'), ...Array(5).fill('delivered')])
    await until(async () => taken().length >= 10)
    expect(taken()).toHaveLength(10)
    for (const one of taken()) {
      expect(one).toMatchObject({ facility: 'local5', severity: 'warning', kind: 'replay' })
      expect(one.data).toMatch(/^\[keystride@32473 id="[^"]+" organization="[^"]+" user="/)
      expect(one.text).toContain('was seen before.')
    }
    expect(taken().filter(({ data }) => data?.includes('user="a\\"\\]b\\\\c"'))).toHaveLength(2)
    expect(readFileSync(file, 'utf8')).not.toMatch(/"app":"forged"/)
  })
})

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
