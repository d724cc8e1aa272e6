import {
  type AgentListItem,
  PORTAL_PAGE_SIZE,
  type Portal,
  type PortalDetails,
  type PortalList,
  parseAgentList,
  parsePortalDetailsList,
  parsePortalList,
  parseUserProfileList,
  paths,
  QUERY,
  type Reader,
  type UserProfile,
  type UserProfileList,
} from '@aiagent/protocol'
import type { ApiCaller } from './api-caller.ts'
import type {
  GetAgentsByPortalOptions,
  GetPortalDetailsOptions,
  GetPortalsOptions,
  GetUserProfilesOptions,
  SelectUserProfileOptions,
} from './api-options.ts'
import { encodedQuery, plainQuery } from './query.ts'

/** Name of the call whose cached responses become stale when a profile is selected. */
const USER_PROFILES = 'getUserProfiles'

/** A page of portals, and whether the service sent an empty one: of a page with odd entries only, no portal is left. */
type PortalPage = PortalList & { readonly isEmpty: boolean }

const readPage: Reader<PortalPage> = (value, path) => {
  const { portal } = (value ?? {}) as { portal?: unknown }
  return { ...parsePortalList(value, path), isEmpty: !Array.isArray(portal) || portal.length === 0 }
}

/** Lists are cached complete: all pages together. */
const readPortals: Reader<unknown> = portal => parsePortalList({ portal }).portal
const readProfiles: Reader<unknown> = profile => parseUserProfileList({ profile }).profile

/** A list of portals: all of them, or those of the user. */
export async function getPortals(
  caller: ApiCaller,
  name: 'getPortals' | 'getMyPortals',
  options: GetPortalsOptions,
): Promise<Portal[]> {
  const departmentId = String(options.departmentId ?? '').trim()
  const shortUrlTemplate = options.shortUrlTemplate?.trim() || caller.shortUrlTemplate
  const call = {
    name,
    method: 'GET',
    path: name === 'getPortals' ? paths.portals() : paths.myPortals(),
    headers: caller.languageHeaders,
    parse: readPage,
    noContent: { isEmpty: true },
  } as const
  const answer = {
    ...call,
    kept: readPortals,
    perUser: true,
    parameters: {
      language: caller.languageOnWire,
      departmentId: departmentId || undefined,
      shortUrlTemplate: shortUrlTemplate || undefined,
      userId: options.userId?.trim() || 'default',
    },
  }
  const { langParameter } = caller
  return caller.load(answer, options, send =>
    allPages((size, page) => {
      const query = encodedQuery({
        [QUERY.LANGUAGE]: langParameter,
        [QUERY.PAGE_SIZE]: String(size),
        [QUERY.PAGE_NUMBER]: String(page),
        [QUERY.DEPARTMENT_ID]: departmentId,
        [QUERY.SHORT_URL_TEMPLATE]: shortUrlTemplate,
      })
      return send({ ...call, query })
    }),
  )
}

/**
 * Fetches one page after the other. A page that fails fails the list; an empty one ends it, regardless of the announced
 * total.
 */
async function allPages(fetchPage: (size: number, page: number) => Promise<PortalPage>): Promise<Portal[]> {
  const first = await fetchPage(PORTAL_PAGE_SIZE, 1)
  const portals = [...(first.portal ?? [])]
  const { count = 0, pagesize = 0 } = first.paginationInfo ?? {}
  const pages = pagesize > 0 ? Math.ceil(count / pagesize) : 1
  for (let page = 2; page <= pages; page++) {
    const { portal, isEmpty } = await fetchPage(pagesize, page)
    if (isEmpty) break
    portals.push(...(portal ?? []))
  }
  return portals
}

/** Loads the details of a portal. The only call that sends the token alone, without the word Bearer. */
export async function getPortalDetails(
  caller: ApiCaller,
  options: GetPortalDetailsOptions,
): Promise<PortalDetails | null> {
  const { portalId } = options
  const call = {
    name: 'getPortalDetails',
    method: 'GET',
    path: paths.portalDetails(portalId),
    query: plainQuery({ [QUERY.LANGUAGE]: caller.langParameter, [QUERY.SHORT_URL_TEMPLATE]: caller.shortUrlTemplate }),
    auth: 'bare',
    headers: caller.languageHeaders,
    parse: parsePortalDetailsList,
  } as const
  const parameters = {
    portalId,
    language: caller.languageOnWire,
    shortUrlTemplate: caller.shortUrlTemplate || undefined,
  }
  const kept = call.parse
  const answer = await caller.load({ ...call, kept, parameters, perUser: true }, options, send => send(call))
  return answer.portal?.find(({ departmentId }) => departmentId != null) ?? answer.portal?.[0] ?? null
}

/** Loads the agents of a portal. A response that is not a list counts as empty. */
export async function getAgentsByPortal(
  caller: ApiCaller,
  options: GetAgentsByPortalOptions,
): Promise<AgentListItem[]> {
  const { departmentId, portalId } = options
  const agentType = options.agentType?.trim() || 'contact-center'
  const call = {
    name: 'getAgentsByPortal',
    method: 'GET',
    path: paths.agentsByPortal(departmentId, portalId),
    query: encodedQuery({ [QUERY.AGENT_TYPE]: agentType }),
    headers: caller.languageHeaders,
    parse: (answer: unknown) => (Array.isArray(answer) ? parseAgentList(answer) : []),
    noContent: [],
  } as const
  const parameters = { departmentId, portalId, agentType, language: caller.languageHeaders['Accept-Language'] }
  return caller.load<AgentListItem[]>({ ...call, kept: parseAgentList, parameters, perUser: true }, options, send =>
    send<AgentListItem[]>({ ...call, noContent: [] }),
  )
}

/** Loads the profiles of the user in a portal. */
export async function getUserProfiles(caller: ApiCaller, options: GetUserProfilesOptions): Promise<UserProfile[]> {
  const { portalId } = options
  const call = {
    name: USER_PROFILES,
    method: 'GET',
    path: paths.userProfiles(portalId),
    query: portalQuery(caller),
    headers: caller.languageHeaders,
    parse: parseUserProfileList,
    noContent: {},
  } as const
  const parameters = {
    portalId,
    language: caller.languageOnWire,
    shortUrlTemplate: caller.shortUrlTemplate || undefined,
  }
  return caller.load({ ...call, kept: readProfiles, parameters, perUser: true }, options, async send => {
    const { profile }: UserProfileList = await send(call)
    return profile ?? []
  })
}

/** Stores the user's selected profile at the service. */
export async function selectUserProfile(caller: ApiCaller, options: SelectUserProfileOptions): Promise<void> {
  const { portalId, profileId } = options
  const call = {
    name: 'selectUserProfile',
    method: 'PUT',
    path: paths.selectUserProfile(portalId, profileId),
    query: portalQuery(caller),
    headers: caller.languageHeaders,
  } as const
  await caller.sendBlind(call, options)
  await caller.forget(USER_PROFILES)
}

/** Query of the portal manager's calls for one portal. */
function portalQuery(caller: ApiCaller): string {
  return encodedQuery({
    [QUERY.LANGUAGE]: caller.langParameter,
    [QUERY.SHORT_URL_TEMPLATE]: caller.shortUrlTemplate,
  })
}
