import type { Id } from '@aiagent/protocol'
import type { Logger } from '../logger.ts'
import type { CacheConfig } from '../platform/cache-adapter.ts'
import type { Environment } from '../platform/environment.ts'

export interface ApiHelperConfig {
  /** Host or address of the REST services, as the deployment info names it. */
  apiDomain: string
  /** @default 'en-us' */
  language?: string | undefined
  /** Sent with every call to the portal manager, where it is not blank. */
  shortUrlTemplate?: string | undefined
  cache?: CacheConfig | undefined
  /** Where the access token comes from when a call brings none. */
  getToken?: (() => Promise<string | null> | string | null) | undefined
  /** Gets a new token by force. With it, a session refused with 401 is asked for once more. */
  refreshToken?: (() => Promise<string>) | undefined
  logger?: Logger | undefined
}

/** What every call takes. */
export interface ApiCallOptions {
  /** Access token of this call, instead of the one that `getToken` gives. Blank counts as not given. */
  authToken?: string | undefined
  signal?: AbortSignal | undefined
}

export interface GetDeploymentInfoOptions {
  environment?: Partial<Environment> | undefined
  signal?: AbortSignal | undefined
}

export interface GetAgentDetailsOptions extends ApiCallOptions {
  agentId: string
}

export interface GetAiAgentSessionOptions extends ApiCallOptions {
  agentId: string
  /** What the agent is to know of the person and the page. */
  context?: Record<string, unknown> | undefined
}

/** Options of both lists of portals. */
export interface GetPortalsOptions extends ApiCallOptions {
  /** Only the portals of this department. */
  departmentId?: Id | undefined
  /** Instead of the helper's own. */
  shortUrlTemplate?: string | undefined
  /** Whose list it is, as far as the cache is concerned; it is not sent. @default 'default' */
  userId?: string | undefined
}

export type GetMyPortalsOptions = GetPortalsOptions

export interface GetPortalDetailsOptions extends ApiCallOptions {
  portalId: Id
}

export interface GetAgentsByPortalOptions extends ApiCallOptions {
  departmentId: Id
  portalId: Id
  /** @default 'contact-center' */
  agentType?: string | undefined
}

export interface GetUserProfilesOptions extends ApiCallOptions {
  portalId: Id
}

export interface SelectUserProfileOptions extends ApiCallOptions {
  portalId: Id
  profileId: Id
}

export type GetUserDetailsOptions = ApiCallOptions
export type GetCustomerDetailsOptions = ApiCallOptions

export interface GetMaskingPatternsOptions extends ApiCallOptions {
  departmentId: Id
  /** @default 'chat' */
  channel?: string | undefined
}

export interface GetConnectedAppsOptions {
  tenantId: Id
  agentId: string
  /** Another host than the helper's. */
  apiDomain?: string | undefined
  signal?: AbortSignal | undefined
}

export interface GetPreviousTranscriptOptions extends ApiCallOptions {
  agentId: string
  sessionId: string
  /** Another host than the helper's. */
  apiDomain?: string | undefined
}
