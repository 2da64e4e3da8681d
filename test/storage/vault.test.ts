import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Binding } from '../../src/storage/vault.js'
import { createVault } from '../../src/storage/vault-aes.js'

const binding: Binding = { accountId: 'a', memberId: 'm', patternId: 'p', generation: 1 }
const plain = randomBytes(3000)

function vaultOf(kek: Uint8Array, keys = new Map<string, Uint8Array>()) {
  const vault = createVault({ kek, wrappedKeyOf: async (organizationId) => keys.get(organizationId) ?? null })
  const found = (id: string) => keys.set(id, vault.newWrappedKey(id))
  return { vault, keys, found }
}

describe('a sealed sample', () => {
  it('opens under the binding it was sealed with', async () => {
    const { vault, found } = vaultOf(randomBytes(32))
    found('one')
    const sealed = await vault.seal('one', binding, plain)
    expect(sealed).toHaveLength(1 + 12 + plain.length + 16)
    expect(Buffer.from(await vault.open('one', binding, sealed)).equals(plain)).toBe(true)
  })

  it.each<Partial<Binding>>([{ accountId: 'b' }, { memberId: 'n' }, { patternId: 'q' }, { generation: 2 }])(
    'does not open when moved to %o',
    async (moved) => {
      const { vault, found } = vaultOf(randomBytes(32))
      found('one')
      const sealed = await vault.seal('one', binding, plain)
      await expect(vault.open('one', { ...binding, ...moved }, sealed)).rejects.toThrow('altered, or moved')
    },
  )

  it('does not open in another organization, even under the same data key', async () => {
    const { vault, keys, found } = vaultOf(randomBytes(32))
    found('one')
    found('two')
    const sealed = await vault.seal('one', binding, plain)
    await expect(vault.open('two', binding, sealed)).rejects.toThrow('altered, or moved')
    keys.set('three', keys.get('one') ?? new Uint8Array())
    await expect(vault.open('three', binding, sealed)).rejects.toThrow('ENCRYPTION_KEY')
  })

  it('does not open with any byte changed or missing', async () => {
    const { vault, found } = vaultOf(randomBytes(32))
    found('one')
    const sealed = await vault.seal('one', binding, Uint8Array.of(1, 2, 3))
    for (let i = 0; i < sealed.length; i += 1) {
      const altered = Uint8Array.from(sealed)
      altered[i] = (altered[i] ?? 0) ^ 1
      await expect(vault.open('one', binding, altered)).rejects.toThrow('altered, or moved')
      await expect(vault.open('one', binding, sealed.subarray(0, i))).rejects.toThrow('altered, or moved')
    }
  })
})

describe('the key', () => {
  it('that is another one is refused by name', async () => {
    const { keys, found } = vaultOf(randomBytes(32))
    found('one')
    const { vault } = vaultOf(randomBytes(32), keys)
    await expect(vault.seal('one', binding, plain)).rejects.toThrow('ENCRYPTION_KEY')
  })

  it('that is too short is refused at once', () => {
    expect(() => vaultOf(randomBytes(16))).toThrow('ENCRYPTION_KEY holds 16 bytes')
  })

  it('of replay marks is stable and differs between organizations', async () => {
    const kek = randomBytes(32)
    const { vault, keys, found } = vaultOf(kek)
    found('one')
    found('two')
    const key = await vault.replayKey('one')
    expect(key).toHaveLength(32)
    expect(await vaultOf(kek, keys).vault.replayKey('one')).toEqual(key)
    expect(await vault.replayKey('two')).not.toEqual(key)
  })
})
