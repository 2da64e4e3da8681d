import { closeSync, openSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { jsonLog, LOG_LEVELS, patientSink, textLog, toDescriptor } from '../../src/process/log.js'

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
})

describe('a reader that is slow', () => {
  /** A sink whose reader has room for `room` bytes, on a clock that only waiting moves. */
  function read(room: number) {
    const state = { room, ms: 0, waitedMs: 0, text: '', takes: 0 }
    const sink = patientSink({
      write(bytes) {
        const n = Math.min(bytes.length, state.room)
        if (n === 0) throw Object.assign(new Error('full'), { code: 'EAGAIN' })
        state.room -= n
        state.text += Buffer.from(bytes.subarray(0, n)).toString()
        return n
      },
      wait(ms) {
        state.ms += ms
        state.waitedMs += ms
        state.room += state.takes
      },
      now: () => state.ms,
    })
    return { sink, state }
  }

  it('delays the process by at most 1 s in a minute, and loses the lines that do not fit then', () => {
    const { sink, state } = read(0)
    for (let n = 0; n < 100; n++) sink(`${n}\n`)
    expect([state.waitedMs, state.text]).toEqual([1000, ''])
    state.room = 9
    sink('fits\n')
    sink('fits not\n')
    expect([state.waitedMs, state.text]).toEqual([1000, 'fits\nfits'])
    state.ms = 59_999
    sink('lost\n')
    expect(state.waitedMs).toBe(1000)
    state.ms = 60_000
    sink('lost\n')
    expect(state.waitedMs).toBe(2000)
  })

  it('delays it by as little if it takes every line in the end', () => {
    const { sink, state } = read(0)
    state.takes = 1
    for (let n = 0; n < 1000; n++) sink('a line of 20 bytes.\n')
    expect(state.waitedMs).toBe(1000)
    expect(state.text).toBe('a line of 20 bytes.\n'.repeat(10))
  })

  it('gets the rest of a line before the next one, which is lost if the rest does not fit', () => {
    const { sink, state } = read(4)
    sink('first line\n')
    sink('lost\n')
    expect(state.text).toBe('firs')
    state.room = 100
    sink('third\n')
    expect(state.text).toBe('first line\nthird\n')
  })
})

describe('the log on a terminal', () => {
  function text(color: boolean) {
    const written: string[] = []
    return { log: textLog('info', color, (line) => void written.push(line)), written }
  }

  it('is one line of time, level, message and fields, with colours only if asked', () => {
    const { log, written } = text(false)
    log.info({ port: 8080, why: null, list: [1] }, 'serving')
    log.debug('left out')
    expect(written).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}serving {2}port=8080 {2}why=null {2}list=\[1\]\n$/),
    ])
    const coloured = text(true)
    coloured.log.error('failed')
    expect(coloured.written[0]).toContain('\u001b[31mERROR\u001b[0m failed')
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
