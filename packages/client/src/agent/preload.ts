import { features } from '#features'
import { loadLogin } from '../auth/create-strategy.ts'
import { defaultEnvironment } from '../platform/default-environment.ts'

/** Optional features of an agent, whose code otherwise loads when it is first needed. All are false by default. */
export interface PreloadOptions {
  /** The code of `resume`. */
  resume?: boolean
  /** The code of `persistQueue`. */
  persistQueue?: boolean
  /** The code of `tabs`. */
  tabs?: boolean
  /** The code for portals and connectors. */
  contactCenter?: boolean
  /** The code that masks content. */
  masking?: boolean
  /** The code of a login, as with {@link preloadPkce}. */
  login?: boolean
}

/**
 * Loads the code of optional features ahead, for a page that knows that a conversation is likely, such as when the user
 * points at the chat button. An agent without optional features needs none of it.
 *
 * @example button.addEventListener('pointerenter', () => void preload({ resume: true }).catch(() => {}))
 * @throws the error of the dynamic import, such as a failed request
 */
export async function preload({ login = false, ...wanted }: PreloadOptions = {}): Promise<void> {
  const names = Object.entries(wanted).flatMap(([name, isWanted]) => (isWanted ? [name as keyof typeof wanted] : []))
  await Promise.all([login && preloadPkce(), ...names.map(name => features[name]?.())])
}

/**
 * Loads the code of a login, so that a click on "Sign in" can open its window at once. Useful when a page shows such a
 * button; otherwise it is loaded with the first login.
 */
export async function preloadPkce(): Promise<void> {
  await loadLogin(defaultEnvironment())
}
