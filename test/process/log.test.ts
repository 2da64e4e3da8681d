import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { jsonLog, LOG_LEVELS, textLog, toDescriptor } from '../../src/process/log.js'

function lines(level: Parameters<typeof jsonLog>[0]) {
  const written: string[] = []
  return { log: jsonLog(level, (line) => void written.push(line)), written }
}

describe('the log', () => {
  it('is one JSON object a line, whatever its fields hold', () => {
    const { log, written } = lines('info')
    log.info({ route: '/x\n{"msg":"forged"}', n: 1n }, 'a "quoted"\u2028 line\n')
    log.warn('alone')
    expect(written.map((line) => line.indexOf('\n'))).toEqual(written.map((line) => line.length - 1))
    expect(written.map((line) => JSON.parse(line))).toMatchObject([
      { level: 30, pid: process.pid, route: '/x\n{"msg":"forged"}', n: '1', msg: 'a "quoted"\u2028 line\n' },
      { level: 40, msg: 'alone' },
    ])
  })

  it('keeps a level and all more severe ones', () => {
    for (const [index, level] of LOG_LEVELS.entries()) {
      const { log, written } = lines(level)
      for (const name of LOG_LEVELS) if (name !== 'silent') log[name](name)
      expect(written).toHaveLength(level === 'silent' ? 0 : index + 1)
    }
  })

  it('writes an error with its causes, without the values of a query', () => {
    const { log, written } = lines('error')
    const cause = Object.assign(new TypeError('inner'), { parameters: ['secret'] })
    log.error({ err: Object.assign(new Error('outer', { cause }), { code: '23505', detail: 'secret' }) }, 'failed')
    const { err } = JSON.parse(written[0] ?? '')
    expect(err).toEqual({
      type: 'Error',
      message: 'outer',
      code: '23505',
      stack: expect.stringContaining('log.test.ts'),
    })
    expect(err.stack).toMatch(/caused by: TypeError: inner/)
    expect(written[0]).not.toContain('secret')
  })

  it('names the fields that it cannot print', () => {
    const { log, written } = lines('info')
    const round: Record<string, unknown> = {}
    round.self = round
    log.info({ round }, 'goes around')
    expect(JSON.parse(written[0] ?? '')).toMatchObject({ msg: 'goes around', unprintable: ['round'] })
  })

  it('does not throw if it cannot be written: a full disk, a read-only descriptor', () => {
    for (const [file, flags] of [
      ['/dev/full', 'w'],
      ['/dev/null', 'r'],
    ] as const) {
      const descriptor = openSync(file, flags)
      expect(() => toDescriptor(descriptor)('lost\n')).not.toThrow()
      closeSync(descriptor)
    }
  })

  it('waits for a blocked reader once, not for each line, and begins a new line after a truncated one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'keystride-log-'))
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const descriptor = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
    const write = jsonLog('info', toDescriptor(descriptor))
    const filler = 'x'.repeat(3000)
    // The first line without room waits for 1 s; a hundred more would wait for 100 s.
    for (let n = 0; n < 130; n++) write.info({ n }, filler)
    const held = Buffer.alloc(1 << 20)
    const length = readSync(descriptor, held)
    write.info('after')
    const after = Buffer.alloc(1 << 20)
    const tail = after.toString('utf8', 0, readSync(descriptor, after)).split('\n').filter(Boolean)
    expect(JSON.parse(tail.at(-1) ?? '')).toMatchObject({ msg: 'after' })
    const whole = held.toString('utf8', 0, length).split('\n').slice(0, -1)
    expect(whole.map((line) => JSON.parse(line).n)).toEqual(whole.map((_, n) => n))
    closeSync(descriptor)
    rmSync(folder, { recursive: true })
  })
})

describe('the log on a terminal', () => {
  function text(color: boolean) {
    const written: string[] = []
    return { log: textLog('info', color, (line) => void written.push(line)), written }
  }

  it('is one line of time, level, message and fields', () => {
    const { log, written } = text(false)
    log.info({ port: 8080, why: null, list: [1] }, 'serving')
    log.debug('left out')
    expect(written).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}serving {2}port=8080 {2}why=null {2}list=\[1\]\n$/),
    ])
  })

  it('colours the level, only if asked', () => {
    const { log, written } = text(true)
    log.error('failed')
    expect(written[0]).toContain('\u001b[31mERROR\u001b[0m failed')
  })

  it('writes an error with its causes below the line', () => {
    const { log, written } = text(false)
    log.error({ err: new Error('outer', { cause: new TypeError('inner') }) }, 'failed')
    const lines = (written[0] ?? '').split('\n')
    expect(lines[0]).toMatch(/ERROR failed$/)
    expect(lines[1]).toBe('    Error: outer')
    expect(lines).toContain('    caused by: TypeError: inner')
  })

  it('lets no logged text move the cursor or begin a line', () => {
    const { log, written } = text(true)
    log.info({ path: '\u001b[2J\u009b1A\n12:00 FATAL forged\u202e\u2028' }, 'a\rb')
    const line = written[0] ?? ''
    expect(line.indexOf('\n')).toBe(line.length - 1)
    expect(line).toContain('\\u{1b}[2J\\u{9b}1A\\u{a}12:00 FATAL forged\\u{202e}\\u{2028}')
    expect(line).toContain('a\\u{d}b')
  })
})
