import type { AiAgent, AiAgentConfig, Environment } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { Journal } from './journal.ts'
import type { SeenRequest, Service } from './wire.ts'

export interface DeskPerson {
  /** Who signed in: `desk-agent` unless another role is given. */
  readonly subject?: string
  readonly environment?: Partial<Environment>
}

/** An agent of the contact center that somebody uses, not initialized yet, and everything it has told. */
export function openDesk(
  service: Service,
  config: Partial<AiAgentConfig> = {},
  { subject = 'desk-agent', environment = service.environment() }: DeskPerson = {},
): { agent: AiAgent; journal: Journal } {
  const auth = { type: 'pre-auth', accessToken: service.control.issueToken({ subject }) } as const
  const agent = service.newAgent({ id: 'desk', auth, ...config }, environment)
  return { agent, journal: new Journal(agent) }
}

/** The ids of a list. */
export const idsOf = (list: readonly { readonly id: unknown }[] = []): unknown[] => list.map(({ id }) => id)

/** What became ready, by portal and profile, in order. */
export const chosen = (journal: Journal): unknown[][] =>
  journal.of('initialized').map(({ portal, profile }) => [portal?.id, profile?.id])

/** What rejected a promise; a promise that is fulfilled is an error. */
export async function rejection(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(outcome instanceof Error)) throw new Error('It should have been rejected with an error.')
  return outcome as Error & Record<string, unknown>
}

/** The profiles that the service was told of, oldest first, as `portal/profile`. */
export function persisted(service: Service): string[] {
  return service.control.requests().flatMap(({ method, path, status }) => {
    const [, portal, profile] = /\/portals\/([^/]+)\/userprofiles\/([^/]+)\/select$/.exec(path) ?? []
    return method === 'PUT' && status < 300 ? [`${portal}/${profile}`] : []
  })
}

/** Requests to the portal manager, and for the agents of a portal. */
export function portalRequests(service: Service): SeenRequest[] {
  return service.control
    .requests()
    .filter(({ path, method }) => method !== 'OPTIONS' && (path.includes('/portalmgr/') || path.includes('/portal/')))
}

/** The sessions that were asked for, by agent. */
export function sessionAgents(service: Service): string[] {
  return service.control.requests().flatMap(({ path, status }) => {
    const [, agent] = /\/chat\/agent\/([^/]+)\/session$/.exec(path) ?? []
    return agent && status === 200 ? [decodeURIComponent(agent)] : []
  })
}

/** How often a path was asked for. */
export const timesAsked = (service: Service, path: string): number => service.requestsTo(path).length

/** Where lists of portals are: the person's own, and all. */
export const LISTS = { my: paths.myPortals(), all: paths.portals() } as const
