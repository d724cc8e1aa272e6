import type { Portal } from '@aiagent/protocol'
import { ConnectorError } from '../../errors.ts'
import type { AgentScope } from '../../scope.ts'
import { untilAborted, withTimeLimit } from '../../util/abort.ts'
import type { HookContract } from './hook-contract.ts'
import type { PlatformComponentService } from './platform-component.ts'

/** How long a function of the script may take, in milliseconds. Connecting to the platform has no limit. */
const LIMIT_MS = 30_000

/** A connector's portal hooks; absent if the component does not provide them. Each may throw, or return anything. */
export interface ConnectorPortalHooks {
  /** Address of the script, for error messages. */
  readonly address?: string
  readonly getPortalList?: (portals: Portal[]) => unknown
  readonly getDefaultPortal?: (portals: Portal[]) => unknown
  readonly onPortalSelected?: (portal: Portal) => unknown
}

/**
 * A loaded component and the agent that uses it. Calls its functions as `PlatformComponentService` describes.
 *
 * Owns whether the platform is connected, which happens once even if the agent restarts. A function that throws or
 * rejects becomes an error that names the function and the script.
 */
export class PlatformConnector {
  readonly #scope: AgentScope<never>
  readonly #component: PlatformComponentService
  readonly #url: string
  readonly #hook: HookContract
  #connected: Promise<void> | undefined

  /**
   * @param url address of the script, for error messages
   * @param hook the agent's own hook
   */
  constructor(scope: AgentScope<never>, component: PlatformComponentService, url: string, hook: HookContract) {
    this.#scope = scope
    this.#component = component
    this.#url = url
    this.#hook = hook
  }

  /**
   * Passes the agent's hook to the script, which may attach its own functions.
   *
   * @throws {ConnectorError} when the script fails; the signal's reason when that is aborted
   */
  async introduce(signal?: AbortSignal): Promise<void> {
    const hook = this.#hook
    const introduce = (name: 'setHookContract' | 'loadCustomHook') =>
      this.#call(
        name,
        this.#limited((component: PlatformComponentService) => component[name]?.(hook)),
        signal,
      )
    await introduce('setHookContract')
    await introduce('loadCustomHook')
  }

  /**
   * The default scopes as changed by the platform; undefined if it has no such function or returns no list. Not to be
   * called if the host supplied scopes.
   *
   * @throws {ConnectorError} when the script fails; the signal's reason when that is aborted
   */
  async addScopes(defaults: readonly string[], signal?: AbortSignal): Promise<readonly string[] | undefined> {
    if (!this.#component.addCustomAuthScopes) return undefined
    const ask = (component: PlatformComponentService) => component.addCustomAuthScopes?.([...defaults])
    const answer: unknown = await this.#call('addCustomAuthScopes', this.#limited(ask), signal)
    if (Array.isArray(answer))
      return answer.filter((scope: unknown): scope is string => typeof scope === 'string' && scope.trim() !== '')
    this.#scope.logger.warn(
      'addCustomAuthScopes() of the connector did not return a list; the default scopes are used.',
    )
    return undefined
  }

  /**
   * Connects to the contact center's platform, once. A failed attempt may be repeated. There is no time limit, since
   * the user may have to sign in there.
   *
   * @throws {ConnectorError} when the script fails; the signal's reason when that is aborted
   */
  initPlatform(signal?: AbortSignal): Promise<void> {
    const connected = (this.#connected ??= this.#call('initPlatform', component => component.initPlatform(this.#hook)))
    connected.catch(() => {
      if (this.#connected === connected) this.#connected = undefined
    })
    return untilAborted(connected, signal)
  }

  /** Its hooks for the portal selection. */
  get portalHooks(): ConnectorPortalHooks {
    const component = this.#component
    const address = this.#url
    const { getPortalList, getDefaultPortal, onPortalSelected } = component
    return {
      address,
      ...(getPortalList && { getPortalList: this.#limited((portals: Portal[]) => component.getPortalList?.(portals)) }),
      ...(getDefaultPortal && {
        getDefaultPortal: this.#limited((portals: Portal[]) => component.getDefaultPortal?.(portals)),
      }),
      ...(onPortalSelected && {
        onPortalSelected: this.#limited((portal: Portal) => component.onPortalSelected?.(portal)),
      }),
    }
  }

  /** The same function, which rejects when the script does not answer in time (REL-111). */
  #limited<Input>(work: (input: Input) => unknown): (input: Input) => Promise<unknown> {
    return input => withTimeLimit(this.#scope.environment.clock, LIMIT_MS, undefined, async () => work(input))
  }

  async #call<T>(
    name: keyof PlatformComponentService,
    call: (component: PlatformComponentService) => T,
    signal?: AbortSignal,
  ): Promise<Awaited<T>> {
    signal?.throwIfAborted()
    // In a promise, since a script may throw at once.
    const outcome = new Promise<T>(resolve => resolve(call(this.#component)))
    try {
      return (await untilAborted(outcome, signal)) as Awaited<T>
    } catch (cause) {
      signal?.throwIfAborted()
      throw new ConnectorError(`${name}() of the connector script ${this.#url} failed.`, this.#url, { cause })
    }
  }
}
