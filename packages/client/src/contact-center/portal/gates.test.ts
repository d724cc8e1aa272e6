import { describe, expect, it } from 'vitest'
import { departmentOf, listsForCustomers, persistsProfile } from './auto-select.ts'
import { needsPortal, usesPortalProfile } from './gates.ts'

describe('a portal is needed', () => {
  const none = { portalIds: [], isDefaultAgent: false }
  it.each([
    ['nothing requires one', {}, none, false],
    ['the agent has none', { portals: [] }, none, false],
    ['the agent lists none', { portals: null }, none, false],
    ['the agent has some', { portals: ['1'] }, none, true],
    ['the host names some', {}, { ...none, portalIds: ['1'] }, true],
    ['the user selects the agent', {}, { ...none, isDefaultAgent: true }, true],
  ])('[FLOW-01] when %s: %o', (_case, agent, params, needed) => {
    expect(needsPortal(agent, params)).toBe(needed)
  })
})

describe('the portals are those for customers', () => {
  it.each([
    [{ userType: 'customer', portals: [1] }, true],
    [{ userType: 'customer', portals: [] }, false],
    [{ userType: 'customer' }, false],
    [{ userType: 'agent', portals: [1] }, false],
    [{ portals: [1] }, false],
  ])('for %j: %s', (agent, expected) => {
    expect(listsForCustomers(agent)).toBe(expected)
  })
})

describe('the department', () => {
  it.each([
    [9, '5', '9'],
    ['9', '5', '9'],
    [' ', '5', '5'],
    [undefined, '5', '5'],
    [null, undefined, undefined],
    ['', undefined, undefined],
    [0, '5', '0'],
  ])('[INIT-02] of agent %j and host %j is %j', (agent, host, department) => {
    expect(departmentOf(agent === undefined ? {} : { departmentId: agent }, { departmentId: host })).toBe(department)
  })
})

describe('where the profile comes from, and whether the service stores it', () => {
  it.each([
    // userType, authType, the portal's own profile, PUT
    ['customer', undefined, true, false],
    ['customer', 'user', true, false],
    ['agent', 'customer', true, false],
    [undefined, 'customer', true, false],
    ['agent', undefined, false, true],
    ['agent', 'anonymous', false, true],
    [undefined, 'user', false, true],
    ['other', 'user', false, true],
    [undefined, undefined, false, true],
    [null, undefined, false, true],
    [' ', undefined, false, true],
    [undefined, 'anonymous', false, false],
    ['other', undefined, false, false],
  ])(
    '[INIT-05] userType %s, authType %s: portal profile %s, stored at the service %s',
    (userType, authType, own, told) => {
      expect(usesPortalProfile(userType === undefined ? {} : { userType }, { authType })).toBe(own)
      expect(persistsProfile(userType === undefined ? {} : { userType }, { authType })).toBe(told)
    },
  )
})
