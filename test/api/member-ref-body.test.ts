import { describe, expect, it } from 'vitest'
import { memberRefIn } from '../../src/api/core/member-ref-body.js'

const inBody = (body: unknown) => memberRefIn(Buffer.from(JSON.stringify(body)))

describe('the member that a body names', () => {
  it('is found after any number of underscores', () => {
    for (const n of [0, 1, 2, 15, 16, 17, 40]) {
      const before = { d: { ua: 'x86_64 '.repeat(n) } }
      expect(inBody({ ...before, member_ref: 'bo' }), `${n}`).toBe('bo')
      expect(inBody(before), `${n}`).toBeNull()
    }
  })

  it('is not confused with a similar name, nor with a nested field', () => {
    expect(inBody({ r_r: 'bo', tremember_ref: 'cy', member_refs: 'di' })).toBeNull()
    expect(inBody({ tags: [{ member_ref: 'bo' }], d: 'the "member_ref"' })).toBeNull()
    expect(inBody({ r_r: 1, d: { member_ref: 'cy' }, member_ref: 'bo' })).toBe('bo')
  })

  it('is null if it is invalid, or if the body is no JSON', () => {
    for (const ref of ['', 7, null, ['bo'], 'x'.repeat(600)]) expect(inBody({ member_ref: ref })).toBeNull()
    for (const text of ['', '_', 'r_r', '{"member_ref":', '{"member_ref":"bo'])
      expect(memberRefIn(Buffer.from(text)), text).toBeNull()
  })
})
