import type { Id } from '@aiagent/protocol'
import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import type { CacheConfig } from '../storage/cache-adapter.ts'

/** Options of an `ApiHelper`. Only `apiDomain` is required. */
export interface ApiHelperConfig {
  /** Host or address of the REST services, as in the deployment info. */
  apiDomain: string
  /** @default 'en-us' */
  language?: string | undefined
  /** Sent with every call to the portal manager, unless blank. */
  shortUrlTemplate?: string | undefined
  /** How responses are cached. @default in sessionStorage for five minutes */
  cache?: CacheConfig | undefined
  /** Returns the access token for calls without an `authToken`. */
  getToken?: (() => Promise<string | null> | string | null) | undefined
  /** Forces a new token. With it, a session call that was answered with 401 is repeated once. */
  refreshToken?: (() => Promise<string>) | undefined
  /**
   * Called before a rate-limited call is repeated (status 429, or code `429-001`), with the name of the call and the
   * wait in milliseconds. @default logs a warning
   */
  onRateLimited?: ((limit: { operation: string; retryInMs: number }) => void) | undefined
  /** Receives log entries. @default none */
  logger?: Logger | undefined
}

/** Options of every call. */
export interface ApiCallOptions {
  /** Access token of this call, instead of the one from `getToken`. A blank one counts as missing. */
  authToken?: string | undefined
  /** Aborts the call: it rejects with reason `aborted`. */
  signal?: AbortSignal | undefined
}

/** Options of `getDeploymentInfo()`. The call sends no token. */
export interface GetDeploymentInfoOptions {
  environment?: Partial<Environment> | undefined
  signal?: AbortSignal | undefined
  /** See {@link ApiHelperConfig.onRateLimited}. */
  onRateLimited?: ApiHelperConfig['onRateLimited']
}

/** Options of `getAgentDetails()`. */
export interface GetAgentDetailsOptions extends ApiCallOptions {
  agentId: string
}

/** Options of `getAiAgentSession()`. */
export interface GetAiAgentSessionOptions extends ApiCallOptions {
  agentId: string
  /** Initial context of the conversation: attributes of the user and the page. */
  context?: Record<string, unknown> | undefined
}

/** Options of both lists of portals. */
export interface GetPortalsOptions extends ApiCallOptions {
  /** Only the portals of this department. */
  departmentId?: Id | undefined
  /** Overrides the helper's own. */
  shortUrlTemplate?: string | undefined
  /** The owner of the list in the cache; it is not sent. @default 'default' */
  userId?: string | undefined
}

/** Options of `getMyPortals()`. */
export type GetMyPortalsOptions = GetPortalsOptions

/** Options of `getPortalDetails()`. */
export interface GetPortalDetailsOptions extends ApiCallOptions {
  portalId: Id
}

/** Options of `getAgentsByPortal()`. */
export interface GetAgentsByPortalOptions extends ApiCallOptions {
  departmentId: Id
  portalId: Id
  /** @default 'contact-center' */
  agentType?: string | undefined
}

/** Options of `getUserProfiles()`. */
export interface GetUserProfilesOptions extends ApiCallOptions {
  portalId: Id
}

/** Options of `selectUserProfile()`. */
export interface SelectUserProfileOptions extends ApiCallOptions {
  portalId: Id
  profileId: Id
}

/** Options of `getUserDetails()`. */
export type GetUserDetailsOptions = ApiCallOptions
/** Options of `getCustomerDetails()`. */
export type GetCustomerDetailsOptions = ApiCallOptions

/** Options of `getMaskingPatterns()`. */
export interface GetMaskingPatternsOptions extends ApiCallOptions {
  departmentId: Id
  /** @default 'chat' */
  channel?: string | undefined
}

/** Options of `getConnectedApps()`. The call sends no token. */
export interface GetConnectedAppsOptions {
  tenantId: Id
  agentId: string
  /** Overrides the helper's host. */
  apiDomain?: string | undefined
  signal?: AbortSignal | undefined
}

/** Options of `getPreviousTranscript()`. */
export interface GetPreviousTranscriptOptions extends ApiCallOptions {
  agentId: string
  sessionId: string
  /** Overrides the helper's host. */
  apiDomain?: string | undefined
}
