import { type MaskingPatterns, paths, QUERY, SCOPE, type UserDetails } from '@aiagent/protocol'
import type { Context } from 'hono'
import { CONNECTOR_PATH, CONNECTOR_SCRIPT } from '../connector/connector-script.ts'
import type { ConnectedApp } from '../contact-center/contact-center-seed.ts'
import type { EmulatorSettings } from '../settings.ts'
import type { UserSeed } from '../world/seed.ts'
import type { World } from '../world/world.ts'
import { findAgent } from './agents.ts'
import { RestError } from './error.ts'
import { describePortal, listAgentsOfPortal, listMyPortals, listPortals, type PortalQuery } from './portals.ts'
import { listProfiles, selectProfile } from './profiles.ts'
import { param, type RouteTable } from './route-table.ts'

/** The calls of a contact center: portals, profiles, users, masking, connector script. */
export function addContactCenterRoutes(
  { at, tokenOf }: RouteTable,
  { world, settings }: { world: World; settings: EmulatorSettings },
): void {
  const portalUser = (c: Context) => tokenOf(c, SCOPE.PORTAL_MANAGER).subject
  const portalQuery = (c: Context): PortalQuery => ({
    size: c.req.query(QUERY.PAGE_SIZE),
    number: c.req.query(QUERY.PAGE_NUMBER),
    largest: settings.portalPageSize,
    departmentId: c.req.query(QUERY.DEPARTMENT_ID) || undefined,
  })
  /** A response with a list: without content for an empty list, unless the settings require a body. */
  const list = <T extends object>(c: Context, entries: readonly unknown[], body: T) =>
    entries.length === 0 && settings.emptyListStatus === 204 ? c.body(null, 204) : c.json(body)

  for (const [path, read] of [
    [paths.portals(), listPortals],
    [paths.myPortals(), listMyPortals],
  ] as const)
    at(path, {
      GET: c => {
        const page = read(world, portalUser(c), portalQuery(c))
        return list(c, page.portal ?? [], page)
      },
    })

  at(paths.portalDetails(':portalId'), {
    GET: c => {
      const { subject } = tokenOf(c, SCOPE.PORTAL_MANAGER, 'bare')
      return c.json({ portal: [describePortal(world, subject, param(c, 'portalId'))] })
    },
  })

  at(paths.agentsByPortal(':departmentId', ':portalId'), {
    GET: c => {
      const { subject } = tokenOf(c, SCOPE.AI_SERVICES)
      const agentType = c.req.query(QUERY.AGENT_TYPE)
      const departmentId = param(c, 'departmentId')
      return c.json(listAgentsOfPortal(world, subject, { departmentId, portalId: param(c, 'portalId'), agentType }))
    },
  })

  at(paths.userProfiles(':portalId'), {
    GET: c => {
      const profiles = listProfiles(world, portalUser(c), param(c, 'portalId'))
      return list(c, profiles.profile ?? [], profiles)
    },
  })

  at(paths.selectUserProfile(':portalId', ':profileId'), {
    PUT: c => {
      selectProfile(world, portalUser(c), param(c, 'portalId'), param(c, 'profileId'))
      return c.body(null, 204)
    },
  })

  at(paths.userDetails(), { GET: c => c.json({ user: listPerson(world, portalUser(c), 'agent') }) })

  at(paths.customerDetails(), {
    GET: c => {
      const { subject } = tokenOf(c, SCOPE.CUSTOMER_MANAGER)
      return c.json({ customer: listPerson(world, subject, 'customer') })
    },
  })

  at(paths.maskingPatterns(':departmentId', ':channel'), {
    GET: c => {
      const { subject } = tokenOf(c, SCOPE.AI_SERVICES)
      return c.json(readMaskingPatterns(world, subject, param(c, 'departmentId'), param(c, 'channel')))
    },
  })

  // Public: the connector requests it before any sign-in.
  at(paths.connectedApps(':tenantId', ':agentId'), {
    GET: c => c.json(listConnectedApps(world, param(c, 'tenantId'), param(c, 'agentId'))),
  })

  at(CONNECTOR_PATH, {
    GET: c => c.body(CONNECTOR_SCRIPT, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }),
  })
}

/**
 * The connected applications of an agent.
 *
 * @throws {RestError} 404 when the tenant does not exist, or has no such agent
 */
function listConnectedApps(world: World, tenantId: string, agentId: string): readonly ConnectedApp[] {
  if (!world.tenants.some(tenant => tenant.id === tenantId))
    throw new RestError(404, '003', `There is no tenant "${tenantId}" here.`)
  const agent = findAgent(world, agentId)
  if (world.tenantIdOfAgent(agent) !== tenantId)
    throw new RestError(404, '002', `The tenant "${tenantId}" has no agent "${agentId}".`)
  return agent.apps ?? []
}

/**
 * The masking rules of a department in a channel; no patterns if it has none.
 *
 * @throws {RestError} 404 when the tenant of a token's subject has no such department
 */
function readMaskingPatterns(world: World, subject: string, departmentId: string, channel: string): MaskingPatterns {
  const department = world.departments.get(departmentId)
  if (!department || world.tenantIdOfDepartment(departmentId) !== world.tenantIdOf(subject))
    throw new RestError(404, '006', `There is no department "${departmentId}" here.`)
  return department.maskingPatterns?.[channel] ?? { patterns: [] }
}

/** The user of a token, alone in a list; empty if the token belongs to no user of this kind. */
function listPerson(world: World, subject: string, userType: UserSeed['userType']): UserDetails[] {
  const user = world.users.get(subject)
  if (user?.userType !== userType) return []
  const { id, name, email, details } = user
  return [{ ...details, id, name, ...(email !== undefined && { email }) }]
}
