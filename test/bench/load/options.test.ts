import { describe, expect, it } from 'vitest'
import { HELP } from '../../../bench/load/help.js'
import { OPTION_NAMES, readOptions } from '../../../bench/load/options.js'

const read = (...args: string[]) => readOptions(args, { KEYSTRIDE_APIKEY: 'ks_key' }, 1_790_000_000_000)

describe('the options', () => {
  it('default to a closed loop on a service that the load tester starts, and else name one by its origin or core API', () => {
    expect(read()).toMatchObject({ core: null, apikey: null, rates: null, connections: 64, seconds: 30, failIf: [] })
    expect(read('--url', 'https://host:8443')).toMatchObject({ core: 'https://host:8443/core', apikey: 'ks_key' })
    expect(read('--url', 'http://host/auth/core/').core).toBe('http://host/auth/core')
  })

  it('ramp from one rate to the other, both included', () => {
    expect(read('--ramp', '50:200:50').rates).toEqual([50, 100, 150, 200])
    expect(read('--ramp', '0.1:0.3:0.1').rates).toHaveLength(3)
  })

  it.each([
    [['--rate', '10', '--ramp', '1:2:1'], /cannot be combined/],
    [['--rate', '0'], /--rate: expected sign-ins a second, above 0, got "0"/],
    [['--duration', '10'], /a time such as/],
    [['--errors', '3'], /a share such as/],
    [['--fail-if', 'slow'], /cannot be read/],
    [['--apikey', 'ks_x'], /visible in every process list/],
    [['--speed', '1'], /--help lists/],
  ])('are refused with the expected value: %j', (args, sentence) => {
    expect(() => read(...args)).toThrow(sentence)
  })

  it('are those of the help', () => {
    const listed = [...HELP.matchAll(/^ {2}--([a-z0-9-]+)/gm)].map((match) => match[1])
    expect(listed.toSorted()).toEqual([...OPTION_NAMES, 'help'].toSorted())
  })
})
