import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_POLICY } from '../../../src/domain/policy.js'
import { type RealFlows, startFlows } from '../real-flows.js'

let flows: RealFlows
beforeAll(async () => {
  flows = await startFlows()
})
afterAll(() => flows.close())

const content = (name: string, groups: readonly string[] = []) => ({ policy: { ...DEFAULT_POLICY, name }, groups })
const UNKNOWN = '01a211c9-96ef-71bd-a741-fbfe3f1f5fc5'

describe('the policies of an organization', () => {
  it('begin with a default, which cannot be archived', async () => {
    const { policies, organizationId } = flows
    const { id, isDefault } = await policies.default(organizationId)
    expect(isDefault).toBe(true)
    await expect(policies.archive(organizationId, id)).rejects.toMatchObject({ kind: 'policy-default' })
  })

  it('have one default and one shadow: the last one set', async () => {
    const { policies, organizationId } = flows
    const [strict, loose] = [
      await policies.create(organizationId, content('strict')),
      await policies.create(organizationId, content('loose')),
    ]
    for (const { id } of [strict, loose]) {
      await policies.makeDefault(organizationId, id)
      await policies.setShadow(organizationId, id, true)
    }
    const live = await policies.list(organizationId, false)
    expect(live.filter(({ isDefault }) => isDefault).map(({ id }) => id)).toEqual([loose.id])
    expect(live.filter(({ isShadow }) => isShadow).map(({ id }) => id)).toEqual([loose.id])
    expect((await policies.default(organizationId)).id).toBe(loose.id)
  })

  it('are read-only once archived, and stay readable', async () => {
    const { policies, organizationId } = flows
    const { id } = await policies.create(organizationId, content('old'))
    expect((await policies.archive(organizationId, id)).archivedAt).not.toBeNull()
    expect((await policies.archive(organizationId, id)).id).toBe(id)
    for (const change of [
      () => policies.change(organizationId, id, content('new')),
      () => policies.makeDefault(organizationId, id),
      () => policies.setShadow(organizationId, id, true),
    ])
      await expect(change()).rejects.toMatchObject({ kind: 'nothing-found' })
    expect((await policies.find(organizationId, id)).policy.name).toBe('old')
    expect((await policies.list(organizationId, true)).map((one) => one.id)).toContain(id)
    expect((await policies.list(organizationId, false)).map((one) => one.id)).not.toContain(id)
  })

  it('are not found by an unknown id', async () => {
    const { policies, organizationId } = flows
    for (const call of ['find', 'archive'] as const)
      await expect(policies[call](organizationId, UNKNOWN)).rejects.toMatchObject({ kind: 'nothing-found' })
  })

  it('simulate no attempt if none is recorded', async () => {
    const { policies, organizationId } = flows
    const { id } = await policies.default(organizationId)
    const window = { from: Date.now() - 3_600_000, to: Date.now() }
    expect(await policies.simulate(organizationId, id, window)).toEqual({
      nAttempts: 0,
      nChanged: 0,
      truncated: false,
      transitions: [],
      users: [],
    })
  })
})
