import type { AiAgent, AiAgentConfig, Environment } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { Journal } from './journal.ts'
import type { SeenRequest, Service } from './wire.ts'

export interface DeskUser {
  /** The signed-in user. @default 'desk-agent' */
  readonly subject?: string
  readonly environment?: Partial<Environment>
}

/** Creates a contact-center agent for a user, without initializing it, and a journal of its events. */
export function openDesk(
  service: Service,
  config: Partial<AiAgentConfig> = {},
  { subject = 'desk-agent', environment = service.environment() }: DeskUser = {},
): { agent: AiAgent; journal: Journal } {
  const auth = { type: 'pre-auth', accessToken: service.control.issueToken({ subject }) } as const
  const agent = service.newAgent({ id: 'desk', auth, ...config }, environment)
  return { agent, journal: new Journal(agent) }
}

/** Ids of a list. */
export const idsOf = (list: readonly { readonly id: unknown }[] = []): unknown[] => list.map(({ id }) => id)

/** Portal and profile of each `initialized` event, in order. */
export const chosen = (journal: Journal): unknown[][] =>
  journal.of('initialized').map(({ portal, profile }) => [portal?.id, profile?.id])

/** The error that a promise rejects with; throws if the promise is fulfilled. */
export async function rejection(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(outcome instanceof Error)) throw new Error('The promise should have been rejected with an error.')
  return outcome as Error & Record<string, unknown>
}

/** Profiles persisted at the service, oldest first, as `portal/profile`. */
export function persisted(service: Service): string[] {
  return service.control.requests().flatMap(({ method, path, status }) => {
    const [, portal, profile] = /\/portals\/([^/]+)\/userprofiles\/([^/]+)\/select$/.exec(path) ?? []
    return method === 'PUT' && status < 300 ? [`${portal}/${profile}`] : []
  })
}

/** Requests to the portal manager and for the agents of a portal. */
export function portalRequests(service: Service): SeenRequest[] {
  return service.control
    .requests()
    .filter(({ path, method }) => method !== 'OPTIONS' && (path.includes('/portalmgr/') || path.includes('/portal/')))
}

/** Agent ids of the created sessions. */
export function sessionAgents(service: Service): string[] {
  return service.control.requests().flatMap(({ path, status }) => {
    const [, agent] = /\/chat\/agent\/([^/]+)\/session$/.exec(path) ?? []
    return agent && status === 200 ? [decodeURIComponent(agent)] : []
  })
}

/** Number of requests to a path. */
export const countRequests = (service: Service, path: string): number => service.requestsTo(path).length

/** Paths of the portal lists: the user's own and all. */
export const LISTS = { my: paths.myPortals(), all: paths.portals() } as const
