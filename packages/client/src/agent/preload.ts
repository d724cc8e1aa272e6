import { loadStart } from './load-start.ts'

/** Parts of the SDK to load ahead. */
export interface PreloadOptions {
  /** Also loads what `resume` in the configuration needs. @default false */
  resume?: boolean
}

/**
 * Loads the code that an agent needs, for a page that knows that a conversation is likely, such as when the user
 * points at the chat button. Without this call it loads with the first `new AiAgent`. For logins see {@link preloadPkce}.
 *
 * @example button.addEventListener('pointerenter', () => void preload().catch(() => {}))
 * @throws the error of the dynamic import, such as a failed request
 */
export async function preload({ resume = false }: PreloadOptions = {}): Promise<void> {
  await Promise.all([loadStart(), resume && import('../resume/session-resume.ts')])
}

/** Loads what `resume` needs without waiting; the part that uses it reports a failure. */
export function preloadResume(): void {
  import('../resume/session-resume.ts').catch(() => {})
}
