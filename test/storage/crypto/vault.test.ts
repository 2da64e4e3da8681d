import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createKeyWrap } from '../../../src/storage/crypto/key-wrap-aes.js'
import { createVault } from '../../../src/storage/crypto/vault-aes.js'
import { givenKeys } from '../../../src/storage/key-ring.js'
import { KeyNotHeld } from '../../../src/storage/key-wrap.js'
import type { Binding } from '../../../src/storage/vault.js'
import { figure } from '../../harness/figure.js'

const binding: Binding = { accountId: 'a', memberId: 'm', patternId: 'p', generation: 1 }
const plain = randomBytes(3000)

function vaultOf(ring = givenKeys(randomBytes(32)), keys = new Map<string, Uint8Array>()) {
  const keyWrap = createKeyWrap(ring)
  const vault = createVault({ keyWrap, wrappedKeyOf: async (organizationId) => keys.get(organizationId) ?? null })
  const found = (id: string) => keys.set(id, keyWrap.wrapNew(id))
  return { vault, keyWrap, keys, found }
}

describe('a sealed sample', () => {
  it('opens under the binding it was sealed with, and under no other', async () => {
    const { vault, found } = vaultOf()
    found('one')
    const sealed = await vault.seal('one', binding, plain)
    expect(sealed).toHaveLength(1 + 12 + plain.length + 16)
    expect(Buffer.from(await vault.open('one', binding, sealed)).equals(plain)).toBe(true)
    for (const moved of [{ accountId: 'b' }, { memberId: 'n' }, { patternId: 'q' }, { generation: 2 }])
      await expect(vault.open('one', { ...binding, ...moved }, sealed)).rejects.toThrow('altered, or moved')
  })

  it('opens in each of its own 200 places, and in none of 1,000 places when swapped', async () => {
    const { vault, found } = vaultOf()
    for (const id of ['o0', 'o1', 'o2', 'o3']) found(id)
    const places = Array.from({ length: 200 }, (_, i) => ({
      organizationId: `o${i % 4}`,
      binding: {
        ...{ accountId: `a${i % 10}`, memberId: `m${i % 25}` },
        ...{ patternId: `p${Math.floor(i / 4)}`, generation: i % 3 },
      },
    }))
    const sealed = await Promise.all(
      places.map(({ organizationId, binding }) => vault.seal(organizationId, binding, plain)),
    )
    const open = (from: number, to: number) => {
      const place = places[to]
      if (place === undefined) throw new Error('no such place')
      return vault.open(place.organizationId, place.binding, sealed[from] ?? new Uint8Array())
    }
    for (let i = 0; i < places.length; i++) expect(Buffer.from(await open(i, i)).equals(plain)).toBe(true)
    let refused = 0
    for (let n = 0; n < 1000; n++) {
      await open(n % 200, (n + 1 + (n % 199)) % 200).catch(() => refused++)
    }
    figure('T31', `${refused} of 1,000 swapped samples refused`, 'all', refused === 1000)
  })

  it('does not open in another organization, even under the same data key', async () => {
    const { vault, keys, found } = vaultOf()
    found('one')
    found('two')
    const sealed = await vault.seal('one', binding, plain)
    await expect(vault.open('two', binding, sealed)).rejects.toThrow('altered, or moved')
    keys.set('three', keys.get('one') ?? new Uint8Array())
    await expect(vault.open('three', binding, sealed)).rejects.toThrow("another organization's")
  })

  it('does not open with any byte changed or missing', async () => {
    const { vault, found } = vaultOf()
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

describe('a data key', () => {
  it('under a key that is not held is refused with the id of that key', async () => {
    const ring = givenKeys(randomBytes(32))
    const { keys, found } = vaultOf(ring)
    found('one')
    const { vault } = vaultOf(givenKeys(randomBytes(32), [randomBytes(32)]), keys)
    const refused = vault.seal('one', binding, plain)
    await expect(refused).rejects.toThrow(KeyNotHeld)
    await expect(refused).rejects.toThrow(`${ring.present().id}, which this process does not hold`)
  })

  it('opens under a previous key, and stays the same when it is rewrapped', async () => {
    const [old, fresh] = [randomBytes(32), randomBytes(32)]
    const { vault, keys, found } = vaultOf(givenKeys(old))
    found('one')
    const sealed = await vault.seal('one', binding, plain)
    const both = vaultOf(givenKeys(fresh, [old]), keys)
    expect(Buffer.from(await both.vault.open('one', binding, sealed)).equals(plain)).toBe(true)
    keys.set('one', both.keyWrap.rewrap('one', keys.get('one') ?? new Uint8Array()))
    const alone = vaultOf(givenKeys(fresh), keys).vault
    expect(Buffer.from(await alone.open('one', binding, sealed)).equals(plain)).toBe(true)
    expect(await alone.replayKey('one')).toEqual(await vault.replayKey('one'))
    expect(await alone.codePepper('one')).toEqual(await vault.codePepper('one'))
  })

  it('does not unwrap with any byte changed or missing', () => {
    const { keyWrap } = vaultOf()
    const wrapped = keyWrap.wrapNew('one')
    expect(wrapped).toHaveLength(8 + 1 + 12 + 32 + 16)
    for (let i = 0; i < wrapped.length; i += 1) {
      const altered = Uint8Array.from(wrapped)
      altered[i] = (altered[i] ?? 0) ^ 1
      expect(() => keyWrap.unwrap('one', altered)).toThrow()
      expect(() => keyWrap.unwrap('one', wrapped.subarray(0, i))).toThrow()
    }
  })

  it('is read again if it was rewrapped between the reads of row and keys', async () => {
    const [old, fresh] = [givenKeys(randomBytes(32)), givenKeys(randomBytes(32))]
    const dataKey = createKeyWrap(old).wrapNew('one')
    const looks = [dataKey, vaultOf(fresh).keyWrap.wrapNew('one')]
    const vault = createVault({ keyWrap: createKeyWrap(fresh), wrappedKeyOf: async () => looks.shift() ?? null })
    expect(await vault.replayKey('one')).toHaveLength(32)
    expect(looks).toEqual([])
  })

  it('is cached once it is unwrapped, with its derived keys', async () => {
    let reads = 0
    const keyWrap = createKeyWrap(givenKeys(randomBytes(32)))
    const wrapped = keyWrap.wrapNew('one')
    const wrappedKeyOf = async () => {
      reads++
      return wrapped
    }
    const vault = createVault({ keyWrap, wrappedKeyOf })
    const first = await vault.replayKey('one')
    expect(await vault.replayKey('one')).toBe(first)
    await vault.codePepper('one')
    await vault.seal('one', binding, plain)
    expect(reads).toBe(1)
  })

  it('under an encryption key of wrong length is refused at once', () => {
    expect(() => givenKeys(randomBytes(16))).toThrow('an encryption key of 16 bytes')
  })
})

describe('the derived keys', () => {
  it('are stable, and differ between organizations and uses', async () => {
    const ring = givenKeys(randomBytes(32))
    const { vault, keys, found } = vaultOf(ring)
    found('one')
    found('two')
    const again = vaultOf(ring, keys).vault
    const all = await Promise.all(['one', 'two'].flatMap((id) => [vault.replayKey(id), vault.codePepper(id)]))
    expect(new Set(all.map((key) => Buffer.from(key).toString('hex'))).size).toBe(4)
    expect(await Promise.all(['one', 'two'].flatMap((id) => [again.replayKey(id), again.codePepper(id)]))).toEqual(all)
  })
})
