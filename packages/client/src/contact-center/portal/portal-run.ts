import type { AgentListItem, Id, Portal, PortalDetails, UserProfile } from '@aiagent/protocol'
import {
  InitializationPipelineError,
  type InitializationPipelineErrorCode,
  type InitializationPipelineStage,
} from '../../errors.ts'
import type { Awaitable } from '../../storage/cache-adapter.ts'
import type { InitialContext } from './auto-select.ts'
import type { Progress } from './pipeline-stage.ts'
import type { PortalAgent, PortalParams } from './portal-flow.ts'

interface Abortable {
  signal: AbortSignal
}

/** The REST calls that a run makes. */
export interface PortalApi {
  getPortals(options: { departmentId?: Id | undefined; userId?: string | undefined } & Abortable): Promise<Portal[]>
  getMyPortals(options: { userId?: string | undefined } & Abortable): Promise<Portal[]>
  getPortalDetails(options: { portalId: Id } & Abortable): Promise<PortalDetails | null>
  getAgentsByPortal(options: { departmentId: Id; portalId: Id } & Abortable): Promise<AgentListItem[]>
  getUserProfiles(options: { portalId: Id } & Abortable): Promise<UserProfile[]>
  selectUserProfile(options: { portalId: Id; profileId: Id } & Abortable): Promise<unknown>
  /** Removes the cached responses of one call. */
  invalidateCache(name: 'getUserProfiles'): Promise<void>
}

/** Portal hooks of a platform's connector. Each may throw, or return anything. */
export interface PortalHooks {
  /** Address of the connector's script, for error messages. */
  readonly address?: string | undefined
  /** Replaces the given list. */
  getPortalList?: ((portals: Portal[]) => unknown) | undefined
  /** The portal to select, or nothing. */
  getDefaultPortal?: ((portals: Portal[]) => unknown) | undefined
  /** Called for each selected portal; returns filter tags. */
  onPortalSelected?: ((portal: Portal) => unknown) | undefined
}

/** Input of a run. */
export interface PortalInput {
  readonly api: PortalApi
  readonly agent: PortalAgent
  readonly params: PortalParams
  /** Initial context of the conversation; not the stored one. */
  readonly context: InitialContext
  /** The access token. A missing or blank one, and a rejection, end the run before it starts. */
  getToken(): Awaitable<string | null | undefined>
  readonly hooks?: PortalHooks | undefined
  /** Distinguishes deployments in session storage. */
  readonly storagePrefix: string
  /** The portal list is fetched in parallel, and processed when this is fulfilled. The run fails when it rejects. */
  readonly ready?: Promise<unknown> | undefined
}

/** Stores for choices that outlive a run. */
export interface ChoiceStores {
  readonly profileCache: {
    claim(user: string): Promise<void>
    get(portalId: Id, person: string): Promise<readonly UserProfile[] | undefined>
    keep(portalId: Id, person: string, profiles: readonly UserProfile[]): Promise<void>
    forget(portalId?: Id): Promise<void>
  }
  readonly selectedProfiles: {
    claim(prefix: string, user: string): Promise<void>
    recall(prefix: string, portalId: Id, user: string): Promise<Id | undefined>
    remember(prefix: string, portalId: Id, profile: UserProfile, user: string): Promise<void>
  }
}

/** Notifications of a run. */
export interface PortalNotices {
  /** The connector returned filter tags. */
  onFilterTags(tags: Record<string, unknown>): void
  onWarning(message: string, details?: Record<string, unknown>): void
}

/** One run through portal, agent and profile. */
export interface PortalRun extends PortalInput, ChoiceStores, PortalNotices {
  /** Fingerprint of the user. */
  readonly person: string
}

/** An error of the portal pipeline. */
export function pipelineError(
  code: InitializationPipelineErrorCode,
  stage: InitializationPipelineStage,
  message: string,
  { portal, agent }: Progress = {},
  ...[cause]: [cause?: unknown]
): InitializationPipelineError {
  return new InitializationPipelineError(message, code, {
    stage,
    portal,
    agent,
    ...(cause === undefined ? {} : { cause }),
  })
}

/** The message of a cause, to append to another message. */
export function causeMessage(cause: unknown): string {
  return cause instanceof Error && cause.message ? ` ${cause.message}` : ''
}

/**
 * The token that a run starts with.
 *
 * @throws {InitializationPipelineError} `AUTH_TOKEN_REQUIRED` when there is none
 */
export async function requireToken({ getToken }: PortalInput): Promise<string> {
  const missing = (cause?: unknown) =>
    pipelineError(
      'AUTH_TOKEN_REQUIRED',
      'start',
      `The portals need an access token, and none could be obtained.${causeMessage(cause)}`,
      {},
      cause,
    )
  let token: string | undefined
  try {
    token = (await getToken())?.trim()
  } catch (cause) {
    throw missing(cause)
  }
  if (!token) throw missing()
  return token
}
