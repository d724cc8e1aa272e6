import type { ConnectedApp } from '../contact-center/contact-center-seed.ts'
import type { World } from '../world/world.ts'
import { findAgent } from './agents.ts'
import { RestError } from './error.ts'

/**
 * The connected applications of an agent.
 *
 * @throws {RestError} 404 when the tenant does not exist, or has no such agent
 */
export function listConnectedApps(world: World, tenantId: string, agentId: string): readonly ConnectedApp[] {
  if (!world.tenants.some(tenant => tenant.id === tenantId))
    throw new RestError(404, '003', `There is no tenant "${tenantId}" here.`)
  const agent = findAgent(world, agentId)
  if (world.tenantIdOfAgent(agent) !== tenantId)
    throw new RestError(404, '002', `The tenant "${tenantId}" has no agent "${agentId}".`)
  return agent.apps ?? []
}
