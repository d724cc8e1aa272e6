import { paths } from '@aiagent/protocol'

/** A contact-center agent, with the portal and the profile that a user selects there. */
export const DESK = { agentId: 'desk', portalId: 1, profileId: 11 } as const

/** Context that makes every selection in advance, so that no user is needed. */
export const DESK_CONTEXT = { vendor_portal_id: DESK.portalId, vendor_personalization_profile_id: DESK.profileId }

/** Responses of the service, by method and path. */
export function deskRoutes(host: string): Record<string, () => unknown> {
  const { agentId, portalId, profileId } = DESK
  return {
    [`GET ${paths.agentDetails(agentId)}`]: () => ({
      agentId,
      name: 'Desk Assistant',
      isAuthenticated: true,
      userType: 'agent',
      departmentId: 999,
      portals: [portalId, 2],
      webSocketDomain: `wss://${host}`,
    }),
    [`GET ${paths.userDetails()}`]: () => ({ user: [{ id: 'desk-agent', name: 'Desk agent' }] }),
    [`GET ${paths.myPortals()}`]: () => ({
      portal: [
        { id: portalId, name: 'Support', department: { id: 999 } },
        { id: 2, name: 'Installation', department: { id: 999 } },
      ],
      paginationInfo: { count: 2, pagesize: 75, pagenum: 1 },
    }),
    [`GET ${paths.portalDetails(portalId)}`]: () => ({ portal: [{ name: 'Support', departmentId: 999 }] }),
    [`GET ${paths.userProfiles(portalId)}`]: () => ({
      profile: [
        { id: 10, name: 'Member' },
        { id: profileId, name: 'Premium member' },
      ],
    }),
    [`PUT ${paths.selectUserProfile(portalId, profileId)}`]: () => ({}),
  }
}
