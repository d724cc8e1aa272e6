import type { Id } from '@aiagent/protocol'
import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import type { CacheConfig } from '../storage/cache-adapter.ts'

/** Options of an `ApiHelper`. Only `apiDomain` is required. */
export interface ApiHelperConfig {
  /** Host or address of the REST services, as in the deployment info. */
  apiDomain: string
  /**
   * Address of the deployment, as the host configured it. If it uses https, addresses in responses must not use plain
   * http, except those of this machine. @default `apiDomain`
   */
  endpoint?: string | undefined
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
  /**
   * Called with the reason when a list in the response has entries that cannot be used and are left out, such as one
   * whose id is not a safe integer. The logger receives a warning in any case.
   */
  onLeftOut?: ((reason: string) => void) | undefined
}

/** Options of `getDeploymentInfo()`. The call sends no token. */
export interface GetDeploymentInfoOptions {
  /** Parts of the platform to replace, such as `fetch`. @default the platform's own */
  environment?: Partial<Environment> | undefined
  /** Aborts the call: it rejects with reason `aborted`. */
  signal?: AbortSignal | undefined
  /** See {@link ApiHelperConfig.onRateLimited}. */
  onRateLimited?: ApiHelperConfig['onRateLimited']
}

/** Options of `getAgentDetails()`. */
export interface GetAgentDetailsOptions extends ApiCallOptions {
  /** Id of the agent. */
  agentId: string
}

/** Options of `getAiAgentSession()`. */
export interface GetAiAgentSessionOptions extends ApiCallOptions {
  /** Id of the agent that the session belongs to. */
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
  /** Id of the portal. */
  portalId: Id
}

/** Options of `getAgentsByPortal()`. */
export interface GetAgentsByPortalOptions extends ApiCallOptions {
  /** Id of the portal's department. */
  departmentId: Id
  /** Id of the portal. */
  portalId: Id
  /** @default 'contact-center' */
  agentType?: string | undefined
}

/** Options of `getUserProfiles()`. */
export interface GetUserProfilesOptions extends ApiCallOptions {
  /** Id of the portal whose profiles are listed. */
  portalId: Id
}

/** Options of `selectUserProfile()`. */
export interface SelectUserProfileOptions extends ApiCallOptions {
  /** Id of the profile's portal. */
  portalId: Id
  /** Id of the profile to select. */
  profileId: Id
}

/** Options of `getUserDetails()`. */
export type GetUserDetailsOptions = ApiCallOptions
/** Options of `getCustomerDetails()`. */
export type GetCustomerDetailsOptions = ApiCallOptions

/** Options of `getMaskingPatterns()`. */
export interface GetMaskingPatternsOptions extends ApiCallOptions {
  /** Id of the department whose rules apply. */
  departmentId: Id
  /** @default 'chat' */
  channel?: string | undefined
}

/** Options of `getConnectedApps()`. The call sends no token. */
export interface GetConnectedAppsOptions {
  /** Id of the deployment's tenant. */
  tenantId: Id
  /** Id of the agent. */
  agentId: string
  /** Overrides the helper's host. */
  apiDomain?: string | undefined
  /** Aborts the call: it rejects with reason `aborted`. */
  signal?: AbortSignal | undefined
}

/** Options of `getPreviousTranscript()`. */
export interface GetPreviousTranscriptOptions extends ApiCallOptions {
  /** Id of the session's agent. */
  agentId: string
  /** Id of the session. Sent in the path, and never logged. */
  sessionId: string
  /** Overrides the helper's host. */
  apiDomain?: string | undefined
}
