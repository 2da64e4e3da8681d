import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keyFile } from '../../../src/storage/crypto/key-file.js'

let folder: string
let file: string
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'keystride-keys-')), 'data')
  file = join(folder, 'encryption.key')
})
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }))

const lines = () => readFileSync(file, 'utf8').trim().split('\n')

describe('the key file', () => {
  it('is made with one key of 32 bytes, readable by its owner only, and read again', () => {
    const { id, bytes } = keyFile(folder).present()
    expect(bytes).toHaveLength(32)
    expect(id).toMatch(/^[0-9a-f]{16}$/)
    expect(keyFile(folder).present()).toEqual({ id, bytes })
    expect(lines()).toEqual([Buffer.from(bytes).toString('base64')])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['encryption.key'])
  })

  it('puts a new key before the old one, and drops keys that are not in use', () => {
    const ring = keyFile(folder)
    const old = ring.present().id
    expect(ring.change?.begin()).toBe('begun')
    const fresh = ring.present().id
    expect(ring.held().map(({ id }) => id)).toEqual([fresh, old])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(ring.change?.end(new Set([old]))).toEqual([])
    expect(ring.change?.end(new Set([fresh]))).toEqual([old])
    expect(ring.held().map(({ id }) => id)).toEqual([fresh])
    expect(readdirSync(folder)).toEqual(['encryption.key'])
  })

  it('resumes a change that was begun and not ended', () => {
    keyFile(folder).change?.begin()
    const before = lines()
    const ring = keyFile(folder)
    expect(ring.change?.begin()).toBe('resumed')
    expect(lines()).toEqual(before)
  })

  it('ignores a draft that a kill left, and overwrites it', () => {
    const ring = keyFile(folder)
    const old = ring.present().id
    writeFileSync(`${file}.next`, 'half a k')
    expect(
      keyFile(folder)
        .held()
        .map(({ id }) => id),
    ).toEqual([old])
    ring.change?.begin()
    expect(lines()).toHaveLength(2)
    expect(readdirSync(folder)).toEqual(['encryption.key'])
  })

  it('keeps the present key if none is in use', () => {
    const ring = keyFile(folder)
    const { id } = ring.present()
    expect(ring.change?.end(new Set())).toEqual([])
    expect(ring.present().id).toBe(id)
  })

  it('is read again for an unknown key, and before each wrap', () => {
    const [service, command] = [keyFile(folder), keyFile(folder)]
    command.change?.begin()
    const fresh = command.present()
    expect(service.find(fresh.id)).toEqual(fresh)
    command.change?.end(new Set())
    command.change?.begin()
    expect(service.present().id).toBe(command.present().id)
    expect(service.find('0000000000000000')).toBeNull()
  })

  it('reports the file without a key, and never its content', () => {
    keyFile(folder)
    writeFileSync(file, '')
    expect(() => keyFile(folder)).toThrow(`${file} holds no key`)
    writeFileSync(file, 'hunter2\n')
    expect(() => keyFile(folder)).toThrow(/^(?!.*hunter2).*32 are needed/)
    expect(existsSync(`${file}.next`)).toBe(false)
  })
})
