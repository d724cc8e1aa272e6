import { describe, expect, it } from 'vitest'
import { scopesOf } from './agent-scopes.ts'

const DEFAULTS = ['knowledge.portalmgr.manage', 'core.aiservices.read']

describe('scopesOf', () => {
  it.each([
    [{}, DEFAULTS],
    [{ userType: 'agent' }, DEFAULTS],
    [{ userType: 'customer' }, [...DEFAULTS, 'core.customermgr.read']],
    [{ extraScopes: 'a, b core.aiservices.read' }, [...DEFAULTS, 'a', 'b']],
    [{ extraScopes: ['a', ' a ', ''] }, [...DEFAULTS, 'a']],
    [{ extraScopes: null }, DEFAULTS],
  ])('of %j', (agent, scopes) => {
    expect(scopesOf(agent)).toEqual(scopes)
  })
})
