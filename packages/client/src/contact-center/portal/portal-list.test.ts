import { describe, expect, it } from 'vitest'
import { departmentOf, listsForCustomers } from './portal-list.ts'

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
