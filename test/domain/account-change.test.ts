import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AccountChange, type People, peopleMove } from '../../src/domain/account-change.js'

const person: People = { userRef: 'desk', type: 'nominative', memberRefs: ['desk'] }
const shared = (...memberRefs: string[]): People => ({ userRef: 'desk', type: 'generic', memberRefs })

/** The move, or the kind of the refusal. */
function outcome(account: People, change: AccountChange): unknown {
  try {
    return peopleMove(account, change)
  } catch (error) {
    return (error as { kind: string }).kind
  }
}

describe('the account type', () => {
  it.each<[string, People, AccountChange, unknown]>([
    [
      'nominative, generic with a distinct member',
      person,
      { type: 'generic', memberRef: 'ann' },
      { kind: 'to-generic', memberRef: 'ann' },
    ],
    ['nominative, generic without a member', person, { type: 'generic' }, 'account-type'],
    ['nominative, generic with the userRef', person, { type: 'generic', memberRef: 'desk' }, 'account-type'],
    ['nominative, another member without a type', person, { memberRef: 'ann' }, 'account-type'],
    ['nominative, another member as nominative', person, { type: 'nominative', memberRef: 'ann' }, 'member-mismatch'],
    ['nominative, its own reference', person, { memberRef: 'desk' }, { kind: 'none' }],
    ['nominative, nothing about people', person, {}, { kind: 'none' }],
    ['generic, nominative with two members', shared('ann', 'bob'), { type: 'nominative' }, 'account-type'],
    ['generic, nominative with one member', shared('ann'), { type: 'nominative' }, { kind: 'to-nominative' }],
    ['generic, nominative without members', shared(), { type: 'nominative' }, { kind: 'to-nominative' }],
    [
      'generic, nominative under another name',
      shared('ann'),
      { type: 'nominative', memberRef: 'ann' },
      'member-mismatch',
    ],
    ['generic, a new member', shared('ann'), { memberRef: 'bob' }, { kind: 'add', memberRef: 'bob' }],
    ['generic, a member it has', shared('ann'), { memberRef: 'ann' }, 'member-exists'],
    ['generic, generic again', shared('ann'), { type: 'generic' }, { kind: 'none' }],
  ])('%s', (_, account, change, wanted) => {
    expect(outcome(account, change)).toEqual(wanted)
  })
})

/** A simple model of an account: its type and its members. */
interface Model {
  type: 'nominative' | 'generic'
  members: string[]
}
interface Real {
  people: People
}

/** Applies the move to the real account. */
function apply(real: Real, change: AccountChange): void {
  const move = peopleMove(real.people, change)
  const { userRef, memberRefs } = real.people
  if (move.kind === 'add') real.people = { userRef, type: 'generic', memberRefs: [...memberRefs, move.memberRef] }
  if (move.kind === 'to-generic') real.people = { userRef, type: 'generic', memberRefs: [move.memberRef] }
  if (move.kind === 'to-nominative') real.people = { userRef, type: 'nominative', memberRefs: [userRef] }
}

class Change implements fc.Command<Model, Real> {
  constructor(readonly change: AccountChange) {}
  check = () => true
  run(model: Model, real: Real): void {
    const { type, memberRef } = this.change
    const names = memberRef !== undefined && memberRef !== 'desk'
    const before = JSON.stringify(real.people)
    let refused = false
    if (model.type === 'nominative') {
      if (type === 'generic' && names) {
        model.type = 'generic'
        model.members = [memberRef]
      } else refused = type === 'generic' || names
    } else if (type === 'nominative') {
      refused = model.members.length > 1 || names
      if (!refused) {
        model.type = 'nominative'
        model.members = ['desk']
      }
    } else if (memberRef !== undefined) {
      refused = model.members.includes(memberRef)
      if (!refused) model.members.push(memberRef)
    }
    if (refused) {
      expect(() => apply(real, this.change)).toThrow()
      expect(JSON.stringify(real.people)).toBe(before)
    } else apply(real, this.change)
    holds(model, real)
  }
  toString = () => `change ${JSON.stringify(this.change)}`
}

class Archive implements fc.Command<Model, Real> {
  constructor(readonly memberRef: string) {}
  check = (model: Model) => model.type === 'generic' && model.members.includes(this.memberRef)
  run(model: Model, real: Real): void {
    model.members = model.members.filter((one) => one !== this.memberRef)
    const memberRefs = real.people.memberRefs.filter((one) => one !== this.memberRef)
    real.people = { ...real.people, memberRefs }
    holds(model, real)
  }
  toString = () => `archive ${this.memberRef}`
}

function holds(model: Model, real: Real): void {
  expect(real.people.type).toBe(model.type)
  expect([...real.people.memberRefs].sort()).toEqual([...model.members].sort())
  expect(new Set(real.people.memberRefs).size).toBe(real.people.memberRefs.length)
  if (real.people.type === 'nominative') expect(real.people.memberRefs).toEqual(['desk'])
}

describe('an account after changes in any order', () => {
  const ref = fc.constantFrom('desk', 'ann', 'bob', 'cy')
  const type = fc.constantFrom('nominative' as const, 'generic' as const)
  const commands = fc.commands(
    [
      fc.record({ type, memberRef: ref }, { requiredKeys: [] }).map((change) => new Change(change)),
      ref.map((memberRef) => new Archive(memberRef)),
    ],
    { maxCommands: 20 },
  )
  it('is of the type last requested explicitly, and loses no member', () => {
    fc.assert(
      fc.property(commands, (run) => {
        fc.modelRun(
          () => ({
            model: { type: 'nominative', members: ['desk'] } as Model,
            real: { people: person },
          }),
          run,
        )
      }),
      { numRuns: 10_000 },
    )
  })
})
