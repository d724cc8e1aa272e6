import type { Portal } from '@aiagent/protocol'
import type { Awaitable } from '../../storage/cache-adapter.ts'
import type { FilterTags } from './call-details.ts'
import type { HookContract } from './hook-contract.ts'

/**
 * What a platform's connector script provides, as the global `PlatformComponentService` or as an export.
 *
 * One component serves every agent of a page: each passes its own hook.
 */
export interface PlatformComponentService {
  /** Receives the agent's hook, right after loading. */
  setHookContract?(hook: HookContract): Awaitable<void>
  /** Attaches its own functions to the hook, after `setHook()`. */
  loadCustomHook?(hook: HookContract): Awaitable<void>
  /**
   * Returns the scopes of token requests, based on the default ones. Called before authentication, and only if the host
   * supplied no scopes. A result that is not a list is ignored.
   */
  addCustomAuthScopes?(scopes: string[]): Awaitable<string[]>
  /** Connects to the contact center's platform. Called once, when there is a token; `initialize()` waits for it. */
  initPlatform(hook: HookContract): Awaitable<void>
  /** Filters and orders the portals to choose from. A result that is not a list counts as empty. */
  getPortalList?(portals: Portal[]): Awaitable<Portal[]>
  /** The portal to select automatically, if any; one of those that `getPortalList` returned. */
  getDefaultPortal?(portals: Portal[]): Awaitable<Portal | null | undefined>
  /** Called for every selected portal; returns tags that filter the answers. */
  onPortalSelected?(portal: Portal): Awaitable<FilterTags | null | undefined>
}

declare global {
  /** Where the script of a platform stores its component. Undefined before a script has run. */
  var PlatformComponentService: PlatformComponentService | undefined
}

/** Name of the global variable, or of the export, for the component. */
export const COMPONENT_NAME = 'PlatformComponentService'

/** Whether a value is a usable component. It may be a class with static functions. */
export function isPlatformComponent(value: unknown): value is PlatformComponentService {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof Reflect.get(value, 'initPlatform') === 'function'
  )
}
