import { createEmulator, createKnowledgeReply, type Emulator, parseArticle } from '@aiagent/emulator'
import { browserStore } from '../ui/browser-store.ts'
import { createControls } from './controls.ts'
import type { Service } from './service.ts'
import { createSessionStateStore } from './session-state-store.ts'

/** No request leaves the page for it. */
const ORIGIN = 'https://emulator.test'

const ARTICLES: Readonly<Record<string, string>> = import.meta.glob('../../../../packages/emulator/knowledge/*.md', {
  query: '?raw',
  import: 'default',
  eager: true,
})

/** The emulator, in this page. */
export function createPageService(): Service {
  const articles = Object.entries(ARTICLES).map(([path, text]) =>
    parseArticle(text, path.slice(path.lastIndexOf('/') + 1)),
  )
  const storage = browserStore('sessionStorage')
  const emulator = createEmulator({
    origin: ORIGIN,
    // Other ids in each tab and on each day.
    seed: crypto.getRandomValues(new Uint32Array(1))[0] ?? 1,
    loginPage: new URL('login.html', location.href).href,
    reply: createKnowledgeReply(articles),
    ...(storage && { store: createSessionStateStore(storage) }),
    // A service on the same machine answers too fast to be watched.
    settings: { answerDelayMs: 40, answerJitterMs: 90, replyDelayMs: 900 },
  })
  return {
    name: 'in this page',
    endpoint: ORIGIN,
    environment: { fetch: emulator.fetch, WebSocket: emulator.WebSocket },
    controls: createControls(emulator.fetch, ORIGIN),
    login: userType => loginAt(emulator, userType),
  }
}

/** The login at an emulator that returns to a file beside this page. */
export function loginAt(emulator: Emulator, userType: 'agent' | 'customer') {
  const redirectUri = new URL('signed-in.html', location.href).href
  const config = emulator.pkceConfig({ redirectUri, userType })
  // Users sign in on a file beside this page, too.
  const knownAuthorities = [...config.knownAuthorities, location.host]
  return { type: 'pkce', config: { ...config, knownAuthorities, authScheme: 'popup' } } as const
}
