import type { Portal } from '@aiagent/protocol'
import { ConnectorError } from '../../errors.ts'
import { untilAborted } from '../../util/abort.ts'
import type { HookContract } from './hook-contract.ts'
import type { PlatformComponentService } from './platform-component.ts'

export interface PlatformConnectorOptions {
  component: PlatformComponentService
  /** Address of the script, for people who read errors. */
  url: string
  /** This agent's own hook. */
  hook: HookContract
  onWarning(message: string): void
}

/** What a connector has to say about portals; what it does not offer is absent. Any of it may throw, or answer anything. */
export interface ConnectorPortalHooks {
  readonly address: string
  readonly getPortalList?: (portals: Portal[]) => unknown
  readonly getDefaultPortal?: (portals: Portal[]) => unknown
  readonly onPortalSelected?: (portal: Portal) => unknown
}

/**
 * A loaded component and the agent that uses it: calls its functions as `PlatformComponentService` says.
 *
 * It owns whether the platform is connected, which happens once however often the agent starts over. A function that
 * throws or rejects becomes an error that names it and the script.
 */
export class PlatformConnector {
  readonly #options: PlatformConnectorOptions
  #connected: Promise<void> | undefined

  constructor(options: PlatformConnectorOptions) {
    this.#options = options
  }

  /**
   * Gives the agent's hook to the script, which may attach functions of its own to it.
   *
   * @throws {ConnectorError} when the script fails; the signal's reason when that is aborted
   */
  async introduce(signal?: AbortSignal): Promise<void> {
    const { hook } = this.#options
    await this.#call('setHookContract', component => component.setHookContract?.(hook), signal)
    await this.#call('loadCustomHook', component => component.loadCustomHook?.(hook), signal)
  }

  /**
   * What the platform makes of the default scopes; undefined where it has no say, or answers with no list. Not to be
   * asked where the host supplied scopes.
   *
   * @throws {ConnectorError} when the script fails; the signal's reason when that is aborted
   */
  async addScopes(defaults: readonly string[], signal?: AbortSignal): Promise<readonly string[] | undefined> {
    if (!this.#options.component.addCustomAuthScopes) return undefined
    const ask = (component: PlatformComponentService) => component.addCustomAuthScopes?.([...defaults])
    const answer: unknown = await this.#call('addCustomAuthScopes', ask, signal)
    if (Array.isArray(answer))
      return answer.filter((scope: unknown): scope is string => typeof scope === 'string' && scope.trim() !== '')
    this.#options.onWarning('The connector answered addCustomAuthScopes() with no list; the default scopes hold.')
    return undefined
  }

  /**
   * Connects to the desk's platform, unless that has been done. A failed attempt may be repeated. There is no time limit,
   * since somebody may have to sign in there.
   *
   * @throws {ConnectorError} when the script fails; the signal's reason when that is aborted
   */
  initPlatform(signal?: AbortSignal): Promise<void> {
    const connected = (this.#connected ??= this.#call('initPlatform', component =>
      component.initPlatform(this.#options.hook),
    ))
    connected.catch(() => {
      if (this.#connected === connected) this.#connected = undefined
    })
    return untilAborted(connected, signal)
  }

  /** Its say in the choice of a portal. */
  get portalHooks(): ConnectorPortalHooks {
    const { component, url: address } = this.#options
    return {
      address,
      ...(component.getPortalList && { getPortalList: portals => component.getPortalList?.(portals) }),
      ...(component.getDefaultPortal && { getDefaultPortal: portals => component.getDefaultPortal?.(portals) }),
      ...(component.onPortalSelected && { onPortalSelected: portal => component.onPortalSelected?.(portal) }),
    }
  }

  async #call<T>(
    name: keyof PlatformComponentService,
    call: (component: PlatformComponentService) => T,
    signal?: AbortSignal,
  ): Promise<Awaited<T>> {
    signal?.throwIfAborted()
    const { component, url } = this.#options
    // In a promise, since a script may throw at once.
    const outcome = new Promise<T>(resolve => resolve(call(component)))
    try {
      return (await untilAborted(outcome, signal)) as Awaited<T>
    } catch (cause) {
      signal?.throwIfAborted()
      throw new ConnectorError(`${name}() of the connector script ${url} failed.`, url, { cause })
    }
  }
}
