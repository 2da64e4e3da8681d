import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { LANGUAGES } from '../../src/domain/typing-words.js'
import { sharedService } from '../harness/service.js'

const built = (file: string) => readFileSync(new URL(`../../build/console/${file}`, import.meta.url))

describe('the console', () => {
  let home: string
  beforeAll(async () => {
    home = (await sharedService()).core.replace('/core', '/console/')
  })

  it('takes at most 120 kB, compressed', () => {
    const small = (file: string) => gzipSync(built(file), { level: 9 }).length
    const script = Math.max(...LANGUAGES.map((language) => small(`console.${language}.js`)))
    expect(script + small('console.css')).toBeLessThan(120 * 1024)
  })

  it('is served at every address of a view, under a policy that permits only its own files', async () => {
    for (const path of ['', 'users', 'users/ann', 'users/ann/log']) {
      const answer = await fetch(home + path)
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
      const policy = answer.headers.get('content-security-policy') ?? ''
      for (const part of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
        expect(policy.split('; ')).toContain(part)
      for (const part of ["require-trusted-types-for 'script'", "trusted-types 'none'"])
        expect(policy.split('; ')).toContain(part)
      expect(policy).not.toContain('unsafe')
      expect(await answer.text()).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/)
    }
    expect((await fetch(home.slice(0, -1))).status).toBe(200)
  })

  it('compresses its files, and a browser that has them is answered without them', async () => {
    for (const file of ['console.en.js', 'console.de.js', 'console.css', 'licenses.txt']) {
      const whole = await fetch(home + file, { headers: { 'accept-encoding': 'identity' } })
      expect(whole.headers.get('content-encoding')).toBeNull()
      expect(Buffer.from(await whole.arrayBuffer()).equals(built(file))).toBe(true)
      const small = await fetch(home + file, { headers: { 'accept-encoding': 'gzip' } })
      expect([small.headers.get('content-encoding'), small.headers.get('vary')]).toEqual(['gzip', 'accept-encoding'])
      expect(Buffer.from(await small.arrayBuffer()).equals(built(file))).toBe(true)
      const etag = whole.headers.get('etag') ?? ''
      const again = await fetch(home + file, { headers: { 'if-none-match': etag } })
      expect([again.status, (await again.arrayBuffer()).byteLength]).toEqual([304, 0])
    }
  })
})
