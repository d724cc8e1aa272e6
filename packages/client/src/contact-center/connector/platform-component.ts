import type { Portal } from '@aiagent/protocol'
import type { Awaitable } from '../../storage/cache-adapter.ts'
import type { FilterTags } from './call-details.ts'
import type { HookContract } from './hook-contract.ts'

/**
 * What a platform's connector script offers, as the global `PlatformComponentService` or as an export.
 *
 * One component serves every agent of a page: each introduces itself with a hook of its own.
 */
export interface PlatformComponentService {
  /** Receives the agent's hook, right after loading. */
  setHookContract?(hook: HookContract): Awaitable<void>
  /** Attaches functions of its own to the hook, next. */
  loadCustomHook?(hook: HookContract): Awaitable<void>
  /**
   * The scopes to ask a token for, made of the default ones. Called before authentication, and only where the host
   * supplied no scopes. An answer that is no list is ignored.
   */
  addCustomAuthScopes?(scopes: string[]): Awaitable<string[]>
  /** Connects to the desk's platform. Called once there is a token; `initialize()` waits for it. */
  initPlatform(hook: HookContract): Awaitable<void>
  /** Filters and orders the portals to choose from. An answer that is no list is an empty one. */
  getPortalList?(portals: Portal[]): Awaitable<Portal[]>
  /** The portal to enter without asking, if any; out of what `getPortalList` gave. */
  getDefaultPortal?(portals: Portal[]): Awaitable<Portal | null | undefined>
  /** Hears of every choice of a portal, and answers with the tags that answers are to be filtered by. */
  onPortalSelected?(portal: Portal): Awaitable<FilterTags | null | undefined>
}

/** Name of the global, and of the export, that a script offers its component by. */
export const COMPONENT_NAME = 'PlatformComponentService'

/** Whether a value can serve as a component. It may be a class with static functions. */
export function isPlatformComponent(value: unknown): value is PlatformComponentService {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof Reflect.get(value, 'initPlatform') === 'function'
  )
}
