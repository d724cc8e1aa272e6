import type { AiAgent } from '@aiagent/client'
import type { AiAgentChatElement } from '../chat-element.ts'

/*
 * What a tab keeps about a launcher with the attribute `resume`, in its sessionStorage: whether there is a conversation, and whether
 * the chat is open. No text, and no id of a session. It is kept while the agent has a session; the client removes it with the user.
 */

/** Longest wait for an idle moment, in milliseconds. */
const LIMIT_MS = 2000
/** Wait in a browser that does not report idle moments, in milliseconds. */
const PAUSE_MS = 200

/** A launcher has the properties of its chat. */
type Launcher = HTMLElement & Pick<AiAgentChatElement, 'config'>

/** The entry of a launcher whose chat is open. */
const OPEN = 'open'

/** Ends what an agent of a launcher was remembered by: another one has taken its place. */
const remembered = new WeakMap<Launcher, AbortController>()

/**
 * Waits until the page is loaded and the browser is idle.
 *
 * @returns whether the chat was open in the previous page of the tab; undefined where that had no conversation
 */
export async function recall(launcher: Launcher): Promise<boolean | undefined> {
  if (document.readyState !== 'complete')
    await new Promise(resolve => addEventListener('load', resolve, { once: true }))
  await new Promise<unknown>(resolve => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(resolve, { timeout: LIMIT_MS })
    else setTimeout(resolve, PAUSE_MS)
  })
  const entry = keeps(launcher) && entryOf(launcher)
  return entry ? entry === OPEN : undefined
}

/** Remembers the conversation of an agent for the next page of the tab. */
export function remember(launcher: Launcher, agent: AiAgent): void {
  remembered.get(launcher)?.abort()
  const stop = new AbortController()
  remembered.set(launcher, stop)
  const { signal } = stop
  const write = () => {
    // The host's agent may live longer than the launcher.
    if (!launcher.isConnected) stop.abort()
    else if (agent.isConnected() && keeps(launcher)) entryOf(launcher, launcher.hasAttribute('open') ? OPEN : 'closed')
  }
  agent.on('stateChanged', write, { signal })
  for (const name of ['aiagent-open', 'aiagent-close']) launcher.addEventListener(name, write, { signal })
  write()
}

/** Whether the session outlives the page, as far as the launcher knows: an agent of the host has its own options. */
function keeps({ config: { resume, cache } = {} }: Launcher): boolean {
  return (
    resume !== false && cache?.enabled !== false && (cache?.adapter !== undefined || cache?.storageType !== 'memory')
  )
}

/** Reads the entry of a launcher, or writes it. A page may have no store, or a full one. */
function entryOf(launcher: Launcher, value?: string): string | null {
  const { endpoint, id } = launcher.config ?? {}
  const names = [launcher.getAttribute('endpoint') ?? endpoint, launcher.getAttribute('agent-id') ?? id, launcher.id]
  const key = `aiagent_launcher_${names.map(name => encodeURIComponent(name ?? '')).join(':')}`
  try {
    if (value !== undefined) sessionStorage.setItem(key, value)
    return sessionStorage.getItem(key)
  } catch {
    return null
  }
}
