import {
  type AgentListItem,
  type MaskingPatterns,
  PORTAL_PAGE_SIZE,
  type Portal,
  type PortalDetails,
  type PortalDetailsList,
  type PortalList,
  parseAgentList,
  parseMaskingPatterns,
  parsePortalDetailsList,
  parsePortalList,
  parseUserProfileList,
  paths,
  QUERY,
  type Reader,
  type UserProfile,
  type UserProfileList,
} from '@aiagent/protocol'
import type {
  GetAgentsByPortalOptions,
  GetConnectedAppsOptions,
  GetMaskingPatternsOptions,
  GetPortalDetailsOptions,
  GetPortalsOptions,
  GetUserProfilesOptions,
  SelectUserProfileOptions,
} from './api-options.ts'
import type { RestCall, Send } from './core-calls.ts'

export const getPortals: RestCall<GetPortalsOptions, PortalPage, Portal[]> = {
  name: 'getPortals',
  defaults: { departmentId: '', userId: 'default' },
  path: () => paths.portals(),
  language: 'both',
  hasTemplate: true,
  query: ({ departmentId }) => ({ [QUERY.DEPARTMENT_ID]: String(departmentId) }),
  parse: readPage,
  noContent: { isEmpty: true },
  load: loadAllPages,
  result: ({ portal }) => portal ?? [],
  keptBy: ['departmentId', 'userId'],
  perUser: true,
}

export const getMyPortals: typeof getPortals = /* @__PURE__ */ Object.assign({}, getPortals, {
  name: 'getMyPortals',
  path: () => paths.myPortals(),
})

export const getPortalDetails: RestCall<GetPortalDetailsOptions, PortalDetailsList, PortalDetails | null> = {
  name: 'getPortalDetails',
  path: ({ portalId }) => paths.portalDetails(portalId),
  auth: 'bare',
  language: 'both',
  hasTemplate: true,
  hasPlainDollar: true,
  parse: parsePortalDetailsList,
  result: ({ portal }) => portal?.find(({ departmentId }) => departmentId != null) ?? portal?.[0] ?? null,
  keptBy: ['portalId'],
  perUser: true,
}

export const getAgentsByPortal: RestCall<GetAgentsByPortalOptions, AgentListItem[]> = {
  name: 'getAgentsByPortal',
  defaults: { agentType: 'contact-center' },
  path: ({ departmentId, portalId }) => paths.agentsByPortal(departmentId, portalId),
  language: 'header',
  query: ({ agentType }) => ({ [QUERY.AGENT_TYPE]: agentType }),
  parse: (answer, ...at) => (Array.isArray(answer) ? parseAgentList(answer, ...at) : []),
  noContent: [],
  keptBy: ['departmentId', 'portalId', 'agentType'],
  // Not the reader itself: on Node this file of the build runs before the one with the reader.
  parseKept: (...kept) => parseAgentList(...kept),
  perUser: true,
}

export const getUserProfiles: RestCall<GetUserProfilesOptions, UserProfileList, UserProfile[]> = {
  name: 'getUserProfiles',
  path: ({ portalId }) => paths.userProfiles(portalId),
  language: 'both',
  hasTemplate: true,
  parse: parseUserProfileList,
  noContent: {},
  result: ({ profile }) => profile ?? [],
  keptBy: ['portalId'],
  perUser: true,
}

export const selectUserProfile: RestCall<SelectUserProfileOptions, void> = {
  name: 'selectUserProfile',
  method: 'PUT',
  path: ({ portalId, profileId }) => paths.selectUserProfile(portalId, profileId),
  language: 'both',
  hasTemplate: true,
  outdates: 'getUserProfiles',
}

export const getMaskingPatterns: RestCall<GetMaskingPatternsOptions, MaskingPatterns> = {
  name: 'getMaskingPatterns',
  defaults: { channel: 'chat' },
  path: ({ departmentId, channel }) => paths.maskingPatterns(departmentId, channel),
  language: 'both',
  parse: parseMaskingPatterns,
  keptBy: ['departmentId', 'channel'],
  perUser: true,
}

export const getConnectedApps: RestCall<GetConnectedAppsOptions, unknown> = {
  name: 'getConnectedApps',
  defaults: { apiDomain: '' },
  path: ({ tenantId, agentId }) => paths.connectedApps(tenantId, agentId),
  auth: 'none',
  parse: answer => answer,
  keptBy: ['tenantId', 'agentId', 'apiDomain'],
}

/** A page of portals, and whether the service sent an empty one: of a page with odd entries only, no portal is left. */
type PortalPage = PortalList & { readonly isEmpty?: boolean }

function readPage(...args: Parameters<Reader<PortalPage>>): PortalPage {
  const { portal } = (args[0] ?? {}) as { portal?: unknown }
  return { ...parsePortalList(...args), isEmpty: !Array.isArray(portal) || portal.length === 0 }
}

/**
 * Fetches one page after the other. A page that fails fails the list; an empty one ends it, regardless of the announced
 * total.
 */
async function loadAllPages(send: Send<PortalPage>): Promise<PortalPage> {
  const fetchPage = (size: number, page: number) =>
    send({ query: { [QUERY.PAGE_SIZE]: String(size), [QUERY.PAGE_NUMBER]: String(page) } })
  const first = await fetchPage(PORTAL_PAGE_SIZE, 1)
  const portal = [...(first.portal ?? [])]
  const { count = 0, pagesize = 0 } = first.paginationInfo ?? {}
  const pages = pagesize > 0 ? Math.ceil(count / pagesize) : 1
  for (let page = 2; page <= pages; page++) {
    const next = await fetchPage(pagesize, page)
    if (next.isEmpty) break
    portal.push(...(next.portal ?? []))
  }
  return { portal }
}
