import { sameId } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { DEFAULT_WORLD } from '../world/default-world.ts'

const { agents, departments, portals, tenants, users } = DEFAULT_WORLD
const agentIds = agents.map(({ details }) => details.agentId)
const portalById = (id: unknown) => portals.find(portal => String(portal.id) === String(id))

describe('the default world', () => {
  it('has unique names', () => {
    for (const ids of [
      agentIds,
      departments.map(({ id }) => id),
      portals.map(({ id }) => id),
      users.map(({ id }) => id),
    ])
      expect(new Set(ids.map(String)).size).toBe(ids.length)
  })

  it.each(portals)('has all entries that the portal $id ($name) refers to', portal => {
    expect(departments.map(({ id }) => id)).toContain(portal.departmentId)
    for (const id of portal.agentIds) expect(agentIds).toContain(id)
    for (const id of portal.memberIds ?? []) expect(users.map(user => user.id)).toContain(id)
    if (portal.defaultProfileId !== undefined)
      expect(portal.profiles.some(({ id }) => sameId(id, portal.defaultProfileId))).toBe(true)
  })

  it('has the portals that agents refer to', () => {
    for (const { details } of agents)
      for (const portal of details.portals ?? [])
        expect(portalById(typeof portal === 'object' ? portal.id : portal)).toBeDefined()
  })

  it('has the department of every agent, and the tenant of every department and user', () => {
    for (const { details } of agents) expect(departments.some(({ id }) => sameId(id, details.departmentId))).toBe(true)
    for (const { tenantId = 'TEN0001' } of [...departments, ...users])
      expect(tenants.map(({ id }) => id)).toContain(tenantId)
  })

  it('has the profiles that users used last', () => {
    for (const { lastUsedProfiles = {} } of users)
      for (const [portalId, profileId] of Object.entries(lastUsedProfiles))
        expect(portalById(portalId)?.profiles.map(({ id }) => id)).toContain(profileId)
  })

  it('has masking rules for every agent that masks', () => {
    for (const { details } of agents.filter(({ details }) => details.enableDataMasking))
      expect(departments.find(({ id }) => sameId(id, details.departmentId))?.maskingPatterns?.chat).toBeDefined()
  })
})
