import type {
  AgentDetails,
  AgentListItem,
  DeploymentInfo,
  MaskingPatterns,
  Portal,
  PortalDetails,
  UserDetails,
  UserProfile,
} from '@aiagent/protocol'
import { requireAddress } from '../check-config.ts'
import { defaultEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import type { CacheAdapter, CacheConfig } from '../storage/cache-adapter.ts'
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
import * as core from './core-calls.ts'
import { empty, loadDeploymentInfo, openSharedStore, RestClient, shared } from './rest-client.ts'
import * as calls from './service-calls.ts'

/**
 * The REST calls of the service, each with a time limit of 30 seconds. Can be used without an `AiAgent`.
 *
 * A failing call rejects with an {@link ApiError} that names it. A call that needs a token and has none rejects with an
 * {@link AuthError} (`token_missing`) before any request.
 */
export class ApiHelper {
  readonly #client: RestClient

  /** @param environment replaces parts of the platform, as the second argument of `AiAgent` does */
  constructor(config: ApiHelperConfig, environment?: Partial<Environment>) {
    this.#client = new RestClient(config, environment)
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
    return loadDeploymentInfo(requireAddress({ endpoint }), cache, options)
  }

  /**
   * Replaces the store of the deployment info for all agents of the page or process; undefined restores the default.
   */
  static setStaticCacheAdapter(adapter: CacheAdapter | undefined): void {
    shared.adapter = adapter
  }

  /**
   * Removes the cached info of every deployment. What a store that fails keeps is not read any more; a store of an environment that
   * the host has given to agents is emptied before it is read again.
   */
  static async clearDeploymentInfoCache(): Promise<void> {
    shared.clearings++
    await empty(openSharedStore('deploymentInfo', defaultEnvironment()))
  }

  /** Sets the language of calls that send one; null, undefined and blank set `en-us`. */
  setLanguage(code: string | null | undefined): void {
    this.#client.setLanguage(code)
  }

  /** The language as it was set. */
  getLanguage(): string {
    return this.#client.language
  }

  /** Loads the details of an agent. The result always contains the agent's id. */
  getAgentDetails(options: GetAgentDetailsOptions): Promise<AgentDetails> {
    return this.#client.call(core.getAgentDetails, options)
  }

  /**
   * Creates a session and returns its id. Never cached.
   *
   * @throws {SDKError} `SESSION_ID_INVALID` when the service returns an invalid id
   * @throws {ApiError} `SESSION_UNAUTHORIZED` when the service rejects the token, also after a refresh if one is
   *   possible
   */
  getAiAgentSession(options: GetAiAgentSessionOptions): Promise<string> {
    return this.#client.call(core.getAiAgentSession, options)
  }

  /** Loads all portals, optionally of one department. All pages are loaded; a page that fails fails the call. */
  getPortals(options: GetPortalsOptions = {}): Promise<Portal[]> {
    return this.#client.call(calls.getPortals, options)
  }

  /** Loads the portals of the signed-in user, all pages. */
  getMyPortals(options: GetMyPortalsOptions = {}): Promise<Portal[]> {
    return this.#client.call(calls.getMyPortals, options)
  }

  /** Loads the details of a portal; null for an empty response. */
  getPortalDetails(options: GetPortalDetailsOptions): Promise<PortalDetails | null> {
    return this.#client.call(calls.getPortalDetails, options)
  }

  /** Loads the agents of a portal. A response that is not a list counts as empty. */
  getAgentsByPortal(options: GetAgentsByPortalOptions): Promise<AgentListItem[]> {
    return this.#client.call(calls.getAgentsByPortal, options)
  }

  /** Loads the profiles of the user in a portal. */
  getUserProfiles(options: GetUserProfilesOptions): Promise<UserProfile[]> {
    return this.#client.call(calls.getUserProfiles, options)
  }

  /** Stores the user's selected profile at the service, and removes every cached list of profiles. */
  selectUserProfile(options: SelectUserProfileOptions): Promise<void> {
    return this.#client.call(calls.selectUserProfile, options)
  }

  /**
   * Loads the signed-in user. Returns null if the lookup fails: it rejects only without an access token, or when its
   * signal is aborted.
   */
  getUserDetails(options: GetUserDetailsOptions = {}): Promise<UserDetails | null> {
    return this.#client.call(core.getUserDetails, options)
  }

  /** Loads the signed-in customer; null as for getUserDetails(). Needs the scope `core.customermgr.read`. */
  getCustomerDetails(options: GetCustomerDetailsOptions = {}): Promise<UserDetails | null> {
    return this.#client.call(core.getCustomerDetails, options)
  }

  /** Loads the masking rules of a department. */
  getMaskingPatterns(options: GetMaskingPatternsOptions): Promise<MaskingPatterns> {
    return this.#client.call(calls.getMaskingPatterns, options)
  }

  /** Loads the connected apps of an agent, as the service lists them. Needs no token. */
  getConnectedApps(options: GetConnectedAppsOptions): Promise<unknown> {
    return this.#client.call(calls.getConnectedApps, options)
  }

  /** Loads the messages of an earlier session, as the service lists them. Never cached. */
  getPreviousTranscript(options: GetPreviousTranscriptOptions): Promise<unknown[]> {
    return this.#client.call(core.getPreviousTranscript, options)
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
    return this.#client.clearUserCache(token)
  }

  /** Removes every cached response. */
  clearCache(): Promise<void> {
    return this.invalidateCache()
  }

  /** Removes the cached responses of one call, such as `'getAgentDetails'`; without a name, all of them. */
  invalidateCache(name?: string): Promise<void> {
    return this.#client.invalidateCache(name)
  }

  /** As `Opaque` has it, which is in another file of the build. */
  get [Symbol.toStringTag](): string {
    return 'AiAgentSdk'
  }
}
