import { AiAgent } from '@aiagent/client'
import { createRecorder } from '@aiagent/client/recorder'

/** What the test hands to the page. */
export interface ShopOptions {
  readonly agentId: string
  readonly endpoint: string
  readonly context: Readonly<Record<string, string>>
  /** Whether the page makes the mistakes below. */
  readonly isCareless: boolean
}

declare global {
  var shop: Shop
  var openShop: (options: ShopOptions) => Promise<void>
  /** Put into the page by the test. */
  var issueToken: () => Promise<string>
}

/** A page of a host, which a test may have make mistakes. */
class Shop {
  readonly #agent: AiAgent
  readonly #recorder = createRecorder()
  readonly #isCareless: boolean
  #sessionId = ''

  constructor({ agentId, endpoint, isCareless }: ShopOptions, accessToken: string) {
    this.#isCareless = isCareless
    this.#agent = new AiAgent({
      id: agentId,
      endpoint,
      auth: { type: 'pre-auth', accessToken, refreshTokenFn: () => globalThis.issueToken() },
      resume: true,
      persistQueue: true,
      recorder: this.#recorder,
      logLevel: 0,
      baseReconnectDelay: 10,
      maxReconnectDelay: 50,
    })
    this.#agent.on('connected', ({ sessionId }) => {
      this.#sessionId = sessionId ?? ''
    })
  }

  async open(context: Readonly<Record<string, string>>): Promise<void> {
    await this.#agent.initialize({ context })
    await this.#agent.connect()
    if (this.#isCareless) await makeMistakes(this.#agent)
  }

  async send(text: string): Promise<void> {
    if (this.#isCareless) makeMistakesWith(text, this.#sessionId)
    await this.#agent.send(text)
  }

  setContext = (attributes: Record<string, unknown>) => this.#agent.setContext(attributes, { sendImmediately: true })

  exports = () => ({
    transcript: this.#agent
      .getTranscript()
      .map(({ id, direction, message }) => ({ id, direction, content: message.content })),
    trace: this.#recorder.exportTrace(),
  })
}

/** One mistake for each sink, with the token, the context and the session. */
async function makeMistakes(agent: AiAgent): Promise<void> {
  const token = (await agent.getAccessToken()) ?? ''
  const context = JSON.stringify(agent.getContext())
  // biome-ignore lint/suspicious/noDocumentCookie: the usual way, also without https
  document.cookie = `login=${token}`
  sessionStorage.setItem('profile', btoa(context))
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open('shop')
    request.onupgradeneeded = () => request.result.createObjectStore('users')
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  const change = database.transaction('users', 'readwrite')
  change.objectStore('users').put({ token: new TextEncoder().encode(token) }, 'me')
  await new Promise(resolve => {
    change.oncomplete = resolve
  })
  database.close()
  if (!sessionStorage.getItem('cached')) {
    sessionStorage.setItem('cached', 'yes')
    await (await caches.open('shop')).put('/me', new Response(context))
  }
  document.title = `Hello ${String(agent.getUserDetails()?.['email'])}`
}

/** One mistake for each sink, with what the user says. */
function makeMistakesWith(text: string, sessionId: string): void {
  localStorage.setItem('draft', `${localStorage.getItem('draft')} ${text}`)
  console.debug('sending', { text })
  history.replaceState({}, '', `#${encodeURIComponent(text)}`)
  void fetch('/suggest', { method: 'POST', body: text, headers: { 'X-Chat': sessionId } })
  setTimeout(() => {
    throw new Error(`Cannot draw "${text}"`)
  })
}

export const startShop: typeof globalThis.openShop = async options => {
  globalThis.shop = new Shop(options, await globalThis.issueToken())
  await globalThis.shop.open(options.context)
}
