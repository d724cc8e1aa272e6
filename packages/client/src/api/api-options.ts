import type { Id } from '@aiagent/protocol'
import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import type { CacheConfig } from '../storage/cache-adapter.ts'

/** What an `ApiHelper` needs to know. Only `apiDomain` is required. */
export interface ApiHelperConfig {
  /** Host or address of the REST services, as the deployment info names it. */
  apiDomain: string
  /** @default 'en-us' */
  language?: string | undefined
  /** Sent with every call to the portal manager, where it is not blank. */
  shortUrlTemplate?: string | undefined
  /** How answers are kept. @default in the tab's store for five minutes */
  cache?: CacheConfig | undefined
  /** Where the access token comes from when a call brings none. */
  getToken?: (() => Promise<string | null> | string | null) | undefined
  /** Gets a new token by force. With it, a session refused with 401 is asked for once more. */
  refreshToken?: (() => Promise<string>) | undefined
  /**
   * Called before a call is repeated that the service refused for its rate (429, or code `429-001`), with the name of the
   * call and the wait in milliseconds. @default a warning is logged
   */
  onRateLimited?: ((limit: { operation: string; retryInMs: number }) => void) | undefined
  /** Hears of what is worth telling. @default nobody */
  logger?: Logger | undefined
}

/** What every call takes. */
export interface ApiCallOptions {
  /** Access token of this call, instead of the one that `getToken` gives. Blank counts as not given. */
  authToken?: string | undefined
  /** Gives the call up: it rejects with reason `aborted`. */
  signal?: AbortSignal | undefined
}

/** What `getDeploymentInfo()` takes. The call carries no token. */
export interface GetDeploymentInfoOptions {
  environment?: Partial<Environment> | undefined
  signal?: AbortSignal | undefined
  /** As {@link ApiHelperConfig.onRateLimited}. */
  onRateLimited?: ApiHelperConfig['onRateLimited']
}

/** What `getAgentDetails()` takes. */
export interface GetAgentDetailsOptions extends ApiCallOptions {
  agentId: string
}

/** What `getAiAgentSession()` takes. */
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

/** What `getMyPortals()` takes. */
export type GetMyPortalsOptions = GetPortalsOptions

/** What `getPortalDetails()` takes. */
export interface GetPortalDetailsOptions extends ApiCallOptions {
  portalId: Id
}

/** What `getAgentsByPortal()` takes. */
export interface GetAgentsByPortalOptions extends ApiCallOptions {
  departmentId: Id
  portalId: Id
  /** @default 'contact-center' */
  agentType?: string | undefined
}

/** What `getUserProfiles()` takes. */
export interface GetUserProfilesOptions extends ApiCallOptions {
  portalId: Id
}

/** What `selectUserProfile()` takes. */
export interface SelectUserProfileOptions extends ApiCallOptions {
  portalId: Id
  profileId: Id
}

/** What `getUserDetails()` takes. */
export type GetUserDetailsOptions = ApiCallOptions
/** What `getCustomerDetails()` takes. */
export type GetCustomerDetailsOptions = ApiCallOptions

/** What `getMaskingPatterns()` takes. */
export interface GetMaskingPatternsOptions extends ApiCallOptions {
  departmentId: Id
  /** @default 'chat' */
  channel?: string | undefined
}

/** What `getConnectedApps()` takes. The call carries no token. */
export interface GetConnectedAppsOptions {
  tenantId: Id
  agentId: string
  /** Another host than the helper's. */
  apiDomain?: string | undefined
  signal?: AbortSignal | undefined
}

/** What `getPreviousTranscript()` takes. */
export interface GetPreviousTranscriptOptions extends ApiCallOptions {
  agentId: string
  sessionId: string
  /** Another host than the helper's. */
  apiDomain?: string | undefined
}
