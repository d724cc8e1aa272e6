import { describe, expect, it } from 'vitest'
import { needsPortal } from './portal-flow.ts'

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
