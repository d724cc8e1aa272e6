import {
  type AgentListItem,
  type Id,
  type OpenRecord,
  type Portal,
  type PortalDetails,
  type PortalList,
  sameId,
} from '@aiagent/protocol'
import type { PortalSeed } from '../contact-center/contact-center-seed.ts'
import type { World } from '../world/world.ts'
import { RestError } from './error.ts'
import { type PageRequest, pageOf } from './paging.ts'

/** Which portals a list contains, and which page of them. */
export interface PortalQuery extends PageRequest {
  /** Only portals of this department. */
  departmentId?: string | undefined
}

/** All portals of the tenant that a token's subject belongs to. */
export function listPortals(world: World, subject: string, query: PortalQuery): PortalList {
  return listWhere(world, query, portal => tenantIdOf(world, portal) === world.tenantIdOf(subject))
}

/** The portals that a token's subject may use. */
export function listMyPortals(world: World, subject: string, query: PortalQuery): PortalList {
  return listWhere(world, query, portal => admits(world, portal, subject))
}

/** The details of a portal. */
export function describePortal(world: World, subject: string, portalId: string): OpenRecord<PortalDetails> {
  const { id, name, description, departmentId, profiles, defaultProfileId } = enterPortal(world, subject, portalId)
  const defaultUserProfile = profiles.find(profile => sameId(profile.id, defaultProfileId))
  return {
    id,
    name,
    ...(description !== undefined && { description }),
    departmentId,
    portalSettings: { ...(defaultUserProfile && { defaultUserProfile: { ...defaultUserProfile } }) },
  }
}

/** The agents of a portal of a department, of one type or of all. */
export function listAgentsOfPortal(
  world: World,
  subject: string,
  { departmentId, portalId, agentType }: { departmentId: string; portalId: string; agentType?: string | undefined },
): AgentListItem[] {
  const portal = enterPortal(world, subject, portalId)
  if (!sameId(portal.departmentId, departmentId)) return []
  return portal.agentIds.flatMap(id => {
    const details = world.agents.get(id)?.details
    if (!details || (agentType !== undefined && details.agentType !== agentType)) return []
    const { agentId, name, description } = details
    return { agentId, name: name ?? null, ...(typeof description === 'string' && { description }) }
  })
}

/**
 * The requested portal of a token's subject.
 *
 * @throws {RestError} 404 when their tenant has no such portal, 403 when the user may not use it
 */
export function enterPortal(world: World, subject: string, portalId: Id): PortalSeed {
  const portal = world.portals.get(String(portalId))
  if (!portal || tenantIdOf(world, portal) !== world.tenantIdOf(subject))
    throw new RestError(404, '004', `There is no portal "${portalId}" here.`)
  if (!admits(world, portal, subject)) throw new RestError(403, '003', `The portal "${portalId}" is not for this user.`)
  return portal
}

function listWhere(world: World, query: PortalQuery, isShown: (portal: PortalSeed) => boolean): PortalList {
  const { departmentId } = query
  const shown = [...world.portals.values()].filter(
    portal => isShown(portal) && (departmentId === undefined || sameId(portal.departmentId, departmentId)),
  )
  const { entries, paginationInfo } = pageOf(shown, query)
  return { portal: entries.map(portal => describe(world, portal)), ...(paginationInfo && { paginationInfo }) }
}

function describe(world: World, { id, name, description, departmentId }: PortalSeed): Portal {
  const department = world.departments.get(String(departmentId))
  return {
    id,
    name,
    ...(description !== undefined && { description }),
    department: { id: departmentId, ...(department && { name: department.name }) },
  }
}

function admits(world: World, portal: PortalSeed, subject: string): boolean {
  if (tenantIdOf(world, portal) !== world.tenantIdOf(subject)) return false
  return portal.memberIds?.includes(subject) ?? true
}

function tenantIdOf(world: World, { departmentId }: PortalSeed): string {
  return world.tenantIdOfDepartment(departmentId)
}
