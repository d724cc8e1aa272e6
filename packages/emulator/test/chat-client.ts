import { ANONYMOUS_CLIENT, type ClientMessage, encodeMessage, paths, type ServerMessage } from '@aiagent/protocol'
import { turnEventLoop } from '@aiagent/test-support'
import { createEmulator, type Emulator, type EmulatorOptions, type SocketCloseEvent, tokenPaths } from '../src/index.ts'

/** Calls one emulator the way a client does, and keeps what it hears. */
export class ServiceCaller {
  readonly emulator: Emulator

  constructor(options: EmulatorOptions = {}) {
    this.emulator = createEmulator(options)
  }

  get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    this.emulator.fetch(this.emulator.origin + path, { headers })

  /** A token that anybody gets. */
  async anonymousToken(): Promise<string> {
    const response = await this.emulator.fetch(this.emulator.origin + tokenPaths.anonymous('TEN0001'), {
      method: 'POST',
      body: new URLSearchParams({
        client_id: ANONYMOUS_CLIENT.id,
        client_secret: ANONYMOUS_CLIENT.secret,
        grant_type: 'client_credentials',
        scope: 'anything at-all',
      }),
    })
    const { access_token } = (await response.json()) as { access_token: string }
    return access_token
  }

  postSession(agentId: string, token: string, body?: unknown): Promise<Response> {
    return this.emulator.fetch(this.emulator.origin + paths.session(agentId), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  /** A new session's id: with anybody's token, or a customer's where the agent wants one. */
  async session(agentId = 'help', context?: Record<string, unknown>): Promise<string> {
    const token = agentId === 'help' ? await this.anonymousToken() : this.emulator.control.issueToken()
    const response = await this.postSession(agentId, token, context && { context })
    const { sessionId } = (await response.json()) as { sessionId: string }
    return sessionId
  }

  async chat(sessionId: string): Promise<ChatCaller> {
    const caller = new ChatCaller(this.emulator, sessionId)
    await turnEventLoop()
    return caller
  }
}

/** One chat connection and everything that came over it. */
export class ChatCaller {
  readonly socket: InstanceType<Emulator['WebSocket']>
  readonly frames: ServerMessage[] = []
  /** Names of the events in the order they came. */
  readonly events: string[] = []
  closing: SocketCloseEvent | undefined

  constructor(emulator: Emulator, sessionId: string, query = '') {
    this.socket = new emulator.WebSocket(`${emulator.origin}/?sessionId=${sessionId}${query}`)
    this.socket.onopen = () => this.events.push('open')
    this.socket.onerror = () => this.events.push('error')
    this.socket.onmessage = event => {
      this.events.push('message')
      this.frames.push(JSON.parse(String(event.data)) as ServerMessage)
    }
    this.socket.onclose = event => {
      this.events.push('close')
      this.closing = event
    }
  }

  /** Sends text as it is, or a frame, and lets the service do what it does at once. */
  async send(frame: ClientMessage | string): Promise<void> {
    this.socket.send(typeof frame === 'string' ? frame : encodeMessage(frame))
    await turnEventLoop()
  }

  say = (content: string): Promise<void> => this.send({ persona: 'customer', role: 'human', content })

  present = (token: string): Promise<void> => this.send({ persona: 'metadata', role: 'token', messageData: { token } })

  /** The role of each frame so far. */
  get roles(): string[] {
    return this.frames.map(frame => frame.role)
  }

  /** The text of each answer so far. */
  get answers(): (string | null | undefined)[] {
    return this.frames.filter(frame => frame.persona === 'agent').map(frame => frame.content)
  }

  /** The code of each error or token frame so far. */
  get codes(): unknown[] {
    return this.frames.flatMap(frame => frame.messageData?.error_code ?? [])
  }
}
