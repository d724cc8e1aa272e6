import {
  type AgentDetails,
  type AgentListItem,
  type DeploymentInfo,
  type MaskingPatterns,
  type Portal,
  type PortalDetails,
  parseAgentDetails,
  paths,
  type UserDetails,
  type UserProfile,
} from '@aiagent/protocol'
import { resolveEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import type { CacheAdapter, CacheConfig } from '../storage/cache-adapter.ts'
import { getConnectedApps, getMaskingPatterns, getPreviousTranscript } from './agent-calls.ts'
import { ApiCaller } from './api-caller.ts'
import type {
  ApiHelperConfig,
  GetAgentDetailsOptions,
  GetAgentsByPortalOptions,
  GetAiAgentSessionOptions,
  GetConnectedAppsOptions,
  GetCustomerDetailsOptions,
  GetDeploymentInfoOptions,
  GetMaskingPatternsOptions,
  GetMyPortalsOptions,
  GetPortalDetailsOptions,
  GetPortalsOptions,
  GetPreviousTranscriptOptions,
  GetUserDetailsOptions,
  GetUserProfilesOptions,
  SelectUserProfileOptions,
} from './api-options.ts'
import { clearDeploymentInfo, loadDeploymentInfo, setDeploymentInfoAdapter } from './deployment-info.ts'
import { requireEncryption } from './downgrade.ts'
import { getAgentsByPortal, getPortalDetails, getPortals, getUserProfiles, selectUserProfile } from './portal-calls.ts'
import { openSession } from './session-request.ts'
import { getCustomerDetails, getUserDetails } from './user-calls.ts'

/**
 * The REST calls of the service, each with a time limit of 30 seconds. Can be used without an `AiAgent`.
 *
 * A failing call rejects with an {@link ApiError} that names it. A call that needs a token and has none rejects with an
 * {@link AuthError} (`token_missing`) before any request.
 */
export class ApiHelper {
  readonly #caller: ApiCaller

  /** @param environment replaces parts of the platform, as the second argument of `AiAgent` does */
  constructor(config: ApiHelperConfig, environment?: Partial<Environment>) {
    this.#caller = new ApiCaller(config, resolveEnvironment(environment))
  }

  /**
   * Loads the addresses of a deployment's services. Needs no token. Cached for five minutes for all agents of the page
   * or process.
   *
   * @param endpoint host or address of the deployment
   * @param cache `{ enabled: false }` disables the cache for this call
   * @throws {ConfigError} for an endpoint that is missing or cannot be used
   */
  static async getDeploymentInfo(
    endpoint: string,
    cache?: CacheConfig,
    options: GetDeploymentInfoOptions = {},
  ): Promise<DeploymentInfo> {
    return loadDeploymentInfo(endpoint, cache, options)
  }

  /**
   * Replaces the store of the deployment info for all agents of the page or process; undefined restores the default.
   */
  static setStaticCacheAdapter(adapter: CacheAdapter | undefined): void {
    setDeploymentInfoAdapter(adapter)
  }

  /** Removes the cached info of every deployment. */
  static clearDeploymentInfoCache(): Promise<void> {
    return clearDeploymentInfo()
  }

  /** Sets the language of calls that send one; null, undefined and blank set `en-us`. */
  setLanguage(code: string | null | undefined): void {
    this.#caller.setLanguage(code)
  }

  /** The language as it was set. */
  getLanguage(): string {
    return this.#caller.language
  }

  /** Loads the details of an agent. The result always contains the agent's id. */
  async getAgentDetails(options: GetAgentDetailsOptions): Promise<AgentDetails> {
    const { agentId } = options
    const call = {
      name: 'getAgentDetails',
      method: 'GET',
      path: paths.agentDetails(agentId),
      about: `agent "${agentId}"`,
      parse: (value: unknown) => {
        const details = parseAgentDetails(value)
        const { apiDomain, endpoint = apiDomain } = this.#caller.config
        requireEncryption(endpoint, 'webSocketDomain', details.webSocketDomain)
        return details
      },
    } as const
    const details = await this.#caller.load({ ...call, kept: call.parse, parameters: { agentId } }, options, send =>
      send(call),
    )
    // In place: it is a copy, and a spread gives each object a separate hidden class.
    details.agentId ||= agentId
    return details
  }

  /**
   * Creates a session and returns its id. Never cached.
   *
   * @throws {SDKError} `SESSION_ID_INVALID` when the service returns an invalid id
   * @throws {ApiError} `SESSION_UNAUTHORIZED` when the service rejects the token, also after a refresh if one is
   *   possible
   */
  getAiAgentSession(options: GetAiAgentSessionOptions): Promise<string> {
    return openSession(this.#caller, options)
  }

  /** Loads all portals, optionally of one department. All pages are loaded; a page that fails fails the call. */
  getPortals(options: GetPortalsOptions = {}): Promise<Portal[]> {
    return getPortals(this.#caller, 'getPortals', options)
  }

  /** Loads the portals of the signed-in user, all pages. */
  getMyPortals(options: GetMyPortalsOptions = {}): Promise<Portal[]> {
    return getPortals(this.#caller, 'getMyPortals', options)
  }

  /** Loads the details of a portal; null for an empty response. */
  getPortalDetails(options: GetPortalDetailsOptions): Promise<PortalDetails | null> {
    return getPortalDetails(this.#caller, options)
  }

  /** Loads the agents of a portal. A response that is not a list counts as empty. */
  getAgentsByPortal(options: GetAgentsByPortalOptions): Promise<AgentListItem[]> {
    return getAgentsByPortal(this.#caller, options)
  }

  /** Loads the profiles of the user in a portal. */
  getUserProfiles(options: GetUserProfilesOptions): Promise<UserProfile[]> {
    return getUserProfiles(this.#caller, options)
  }

  /** Stores the user's selected profile at the service, and removes every cached list of profiles. */
  selectUserProfile(options: SelectUserProfileOptions): Promise<void> {
    return selectUserProfile(this.#caller, options)
  }

  /**
   * Loads the signed-in user. Returns null if the lookup fails: it rejects only without an access token, or when its
   * signal is aborted.
   */
  getUserDetails(options: GetUserDetailsOptions = {}): Promise<UserDetails | null> {
    return getUserDetails(this.#caller, options)
  }

  /** Loads the signed-in customer; null as for getUserDetails(). Needs the scope `core.customermgr.read`. */
  getCustomerDetails(options: GetCustomerDetailsOptions = {}): Promise<UserDetails | null> {
    return getCustomerDetails(this.#caller, options)
  }

  /** Loads the masking rules of a department. */
  getMaskingPatterns(options: GetMaskingPatternsOptions): Promise<MaskingPatterns> {
    return getMaskingPatterns(this.#caller, options)
  }

  /** Loads the connected apps of an agent, as the service lists them. Needs no token. */
  getConnectedApps(options: GetConnectedAppsOptions): Promise<unknown> {
    return getConnectedApps(this.#caller, options)
  }

  /** Loads the messages of an earlier session, as the service lists them. Never cached. */
  getPreviousTranscript(options: GetPreviousTranscriptOptions): Promise<unknown[]> {
    return getPreviousTranscript(this.#caller, options)
  }

  /**
   * Removes the cached responses that depend on the user of this helper, as a logout does. In a shared store (a cache
   * adapter, or the memory of a process), the responses of other users stay. In a page's own store, every response of
   * this API host is removed.
   *
   * @param token access token of the user, if no call with it was made through this helper
   * @throws when the store failed or did not answer within 10 seconds: entries may remain
   */
  clearUserCache(token?: string): Promise<void> {
    return this.#caller.forgetUsers(token)
  }

  /** Removes every cached response. */
  clearCache(): Promise<void> {
    return this.#caller.forget()
  }

  /** Removes the cached responses of one call, such as `'getAgentDetails'`; without a name, all of them. */
  invalidateCache(name?: string): Promise<void> {
    return this.#caller.forget(name)
  }
}
