import type { Environment, WebSocketLike } from '@aiagent/client'
import { type MaskingPatterns, paths } from '@aiagent/protocol'

/** A socket that goes nowhere: what is sent is looked at, what is received is put in by hand. */
export class MemorySocket implements WebSocketLike {
  static last: MemorySocket | undefined

  readyState = 0
  readonly bufferedAmount = 0
  sent = 0
  onopen: ((event: never) => unknown) | null = null
  onmessage: ((event: never) => unknown) | null = null
  onclose: ((event: never) => unknown) | null = null
  onerror: ((event: never) => unknown) | null = null

  constructor() {
    MemorySocket.last = this
    queueMicrotask(() => {
      this.readyState = 1
      ;(this.onopen as ((event: object) => unknown) | null)?.({})
    })
  }

  send(data: string): void {
    // Reading a character puts a text together that was joined of parts, as writing it to a real socket does.
    this.sent += data.charCodeAt(data.length - 1)
  }

  receive(data: string): void {
    ;(this.onmessage as ((event: object) => unknown) | null)?.({ data })
  }

  close(): void {
    this.readyState = 3
  }
}

/**
 * A service in memory, so that only the library's own work is left.
 *
 * @param masking rules of the agent, which masks nothing without them
 */
export function memoryEnvironment(masking?: MaskingPatterns): Partial<Environment> {
  const answers: Record<string, object> = {
    ...ANSWERS,
    [`GET ${paths.agentDetails('help')}`]: { ...DETAILS, enableDataMasking: masking !== undefined },
    [`GET ${paths.maskingPatterns(DETAILS.departmentId, 'chat')}`]: masking ?? {},
  }
  return {
    WebSocket: MemorySocket,
    fetch: async (address, init) => {
      const answer = answers[`${init?.method ?? 'GET'} ${new URL(address).pathname}`]
      return answer ? Response.json(answer) : new Response('', { status: 404 })
    },
  }
}

export const MEMORY_ENDPOINT = 'http://127.0.0.1:9'

const DETAILS = { agentId: 'help', name: 'Help Centre', departmentId: '999', webSocketDomain: 'ws://127.0.0.1:9' }

const ANSWERS: Record<string, object> = {
  [`GET ${paths.deploymentInfo()}`]: { apiDomain: MEMORY_ENDPOINT, tenantId: 'TEN0001', version: '21.23.0' },
  [`GET ${paths.metadataOfDeployment()}`]: {
    authenticationDetails: { oAuthAnonymousCustomer: [{ accessTokenURL: `${MEMORY_ENDPOINT}/oauth2/token` }] },
  },
  'POST /oauth2/token': { access_token: 'a.b.c', token_type: 'Bearer', expires_in: 3600 },
  [`POST ${paths.session('help')}`]: { sessionId: 'S1' },
}
