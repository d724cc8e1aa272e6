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
import { openSession } from './session-request.ts'

/**
 * The REST calls of the service, each with a time limit of 30 seconds; the base of {@link ApiHelper}.
 *
 * A failing call rejects with an {@link ApiError} that names it, or with an {@link AuthError} (`token_missing`) before any
 * request where it needs a token and there is none.
 */
export class RestApi {
  readonly #caller: ApiCaller

  /** @param environment replaces parts of the platform, as the second argument of `AiAgent` does */
  constructor(config: ApiHelperConfig, environment?: Partial<Environment>) {
    this.#caller = new ApiCaller(config, resolveEnvironment(environment))
  }

  /**
   * Where a deployment's services are. Needs no token. Kept for five minutes for all agents of the page or process.
   *
   * @param endpoint host or address of the deployment
   * @param cache `{ enabled: false }` asks the service every time
   */
  static async getDeploymentInfo(
    endpoint: string,
    cache?: CacheConfig,
    options: GetDeploymentInfoOptions = {},
  ): Promise<DeploymentInfo> {
    return loadDeploymentInfo(endpoint, cache, options)
  }

  /** Replaces the store of the deployment info for all agents of the page or process; undefined takes that back. */
  static setStaticCacheAdapter(adapter: CacheAdapter | undefined): void {
    setDeploymentInfoAdapter(adapter)
  }

  /** Forgets what is known of every deployment. */
  static clearDeploymentInfoCache(): Promise<void> {
    return clearDeploymentInfo()
  }

  /** Sets the language of the calls that carry one; null, undefined and blank set `en-us`. */
  setLanguage(code: string | null | undefined): void {
    this.#caller.setLanguage(code)
  }

  /** The language as it was set. */
  getLanguage(): string {
    return this.#caller.language
  }

  /** What the service says of an agent. The answer always carries the agent's id. */
  async getAgentDetails(options: GetAgentDetailsOptions): Promise<AgentDetails> {
    const { agentId } = options
    const call = {
      name: 'getAgentDetails',
      method: 'GET',
      path: paths.agentDetails(agentId),
      about: `agent "${agentId}"`,
      parse: (value: unknown) => {
        const details = parseAgentDetails(value)
        requireEncryption(this.#caller.config.apiDomain, 'webSocketDomain', details.webSocketDomain)
        return details
      },
    } as const
    const details = await this.#caller.load({ ...call, kept: call.parse, parameters: { agentId } }, options, send =>
      send(call),
    )
    return { ...details, agentId: details.agentId || agentId }
  }

  /**
   * Opens a session and returns its id. Never cached.
   *
   * @throws {SDKError} `SESSION_ID_INVALID` when the service answers with an id that cannot be used
   * @throws {ApiError} `SESSION_UNAUTHORIZED` when the token is refused, also after a refresh where there is one
   */
  getAiAgentSession(options: GetAiAgentSessionOptions): Promise<string> {
    return openSession(this.#caller, options)
  }

  /** All portals, of a department where one is given. Pages are put together; one that fails fails the call. */
  getPortals(options: GetPortalsOptions = {}): Promise<Portal[]> {
    return furtherCalls().then(calls => calls.getPortals(this.#caller, 'getPortals', options))
  }

  /** The portals that the signed-in user may enter, of all pages. */
  getMyPortals(options: GetMyPortalsOptions = {}): Promise<Portal[]> {
    return furtherCalls().then(calls => calls.getPortals(this.#caller, 'getMyPortals', options))
  }

  /** What a portal says of itself; null where the answer is empty. */
  getPortalDetails(options: GetPortalDetailsOptions): Promise<PortalDetails | null> {
    return furtherCalls().then(calls => calls.getPortalDetails(this.#caller, options))
  }

  /** The agents to choose from in a portal. An answer that is not a list counts as empty. */
  getAgentsByPortal(options: GetAgentsByPortalOptions): Promise<AgentListItem[]> {
    return furtherCalls().then(calls => calls.getAgentsByPortal(this.#caller, options))
  }

  /** The profiles that the user has in a portal. */
  getUserProfiles(options: GetUserProfilesOptions): Promise<UserProfile[]> {
    return furtherCalls().then(calls => calls.getUserProfiles(this.#caller, options))
  }

  /** Tells the service which profile the user works with, and forgets every kept list of profiles. */
  selectUserProfile(options: SelectUserProfileOptions): Promise<void> {
    return furtherCalls().then(calls => calls.selectUserProfile(this.#caller, options))
  }

  /**
   * The user of the desk. Null when nothing can be learned: it rejects only where there is no access token, or its signal
   * is aborted.
   */
  getUserDetails(options: GetUserDetailsOptions = {}): Promise<UserDetails | null> {
    return furtherCalls().then(calls => calls.getUserDetails(this.#caller, options))
  }

  /** The signed-in customer, or null as for getUserDetails(). Needs the scope `core.customermgr.read`. */
  getCustomerDetails(options: GetCustomerDetailsOptions = {}): Promise<UserDetails | null> {
    return furtherCalls().then(calls => calls.getCustomerDetails(this.#caller, options))
  }

  /** The rules of what a department wants hidden in messages. */
  getMaskingPatterns(options: GetMaskingPatternsOptions): Promise<MaskingPatterns> {
    return furtherCalls().then(calls => calls.getMaskingPatterns(this.#caller, options))
  }

  /** The apps connected to an agent, as the service lists them. Needs no token. */
  getConnectedApps(options: GetConnectedAppsOptions): Promise<unknown> {
    return furtherCalls().then(calls => calls.getConnectedApps(this.#caller, options))
  }

  /** The messages of an earlier session, as the service lists them. Never cached. */
  getPreviousTranscript(options: GetPreviousTranscriptOptions): Promise<unknown[]> {
    return furtherCalls().then(calls => calls.getPreviousTranscript(this.#caller, options))
  }

  /**
   * Removes the cached answers that depend on the user of this helper, as a logout does. In a store that several users
   * share (a cache adapter, or the memory of a process) the answers of other users stay; in a page's own store every
   * answer of this API host goes.
   *
   * @param token access token of the user, where no call with it was made through this helper
   * @throws when the store failed or did not answer within 10 seconds: entries may remain
   */
  clearUserCache(token?: string): Promise<void> {
    return this.#caller.forgetUsers(token)
  }

  /** Removes every cached answer. */
  clearCache(): Promise<void> {
    return this.#caller.forget()
  }

  /** Forgets the answers of one call, as `'getAgentDetails'`; without a name, all of them. */
  invalidateCache(name?: string): Promise<void> {
    return this.#caller.forget(name)
  }
}

/** Calls that an anonymous conversation does not make: a separate chunk. */
const furtherCalls = () => import('./further-calls.ts')
