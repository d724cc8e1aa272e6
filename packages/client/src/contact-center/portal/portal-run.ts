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
  /** Forgets the kept answers of one call. */
  invalidateCache(name: 'getUserProfiles'): Promise<void>
}

/** What a platform's connector may have to say about portals. Any of it may throw, or answer anything. */
export interface PortalHooks {
  /** Address of the connector's script, for people who read errors. */
  readonly address?: string | undefined
  /** A list in place of the given one. */
  getPortalList?: ((portals: Portal[]) => unknown) | undefined
  /** The portal to take, or nothing. */
  getDefaultPortal?: ((portals: Portal[]) => unknown) | undefined
  /** Hears of every portal that is entered; answers with filter tags. */
  onPortalSelected?: ((portal: Portal) => unknown) | undefined
}

/** What a run needs to know before it begins. */
export interface PortalInput {
  readonly api: PortalApi
  readonly agent: PortalAgent
  readonly params: PortalParams
  /** Attributes that the conversation starts with; not the stored ones. */
  readonly context: InitialContext
  /** The access token; nothing, blank and a failure stop the run before it begins. */
  getToken(): Awaitable<string | null | undefined>
  readonly hooks?: PortalHooks | undefined
  /** Tells deployments apart in the browser's store. */
  readonly storagePrefix: string
  /** The list is fetched meanwhile; nothing is done with it before this is fulfilled. The run fails with it. */
  readonly ready?: Promise<unknown> | undefined
}

/** The choices that outlive a run. */
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

/** What a run tells while it goes on. */
export interface PortalNotices {
  /** A connector wants answers narrowed down. */
  onFilterTags(tags: Record<string, unknown>): void
  onWarning(message: string, details?: Record<string, unknown>): void
}

/** One way through portal, agent and profile. */
export interface PortalRun extends PortalInput, ChoiceStores, PortalNotices {
  /** Tells people apart. */
  readonly person: string
}

/** An error of this way. */
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

/** What a failure said, to stand in a message. */
export function said(cause: unknown): string {
  return cause instanceof Error && cause.message ? ` ${cause.message}` : ''
}

/**
 * The token that a run begins with.
 *
 * @throws {InitializationPipelineError} `AUTH_TOKEN_REQUIRED` where there is none
 */
export async function requireToken({ getToken }: PortalInput): Promise<string> {
  const missing = (cause?: unknown) =>
    pipelineError(
      'AUTH_TOKEN_REQUIRED',
      'start',
      `The portals need an access token and there is none.${said(cause)}`,
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
