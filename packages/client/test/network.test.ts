import { createServer as createHttpServer, type Server } from 'node:http'
import { type AddressInfo, createServer, type Server as TcpServer } from 'node:net'
import { inspect } from 'node:util'
import { serveEmulator } from '@aiagent/emulator/node'
import { paths } from '@aiagent/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { AiAgent } from '../src/ai-agent.ts'
import { ClientCredentialsAuthStrategy } from '../src/auth/client-credentials-strategy.ts'
import { nativeEnvironment } from '../src/platform/native-environment.ts'
import { ApiHelper } from '../src/rest/api-helper.ts'
import { FakeService, fakeToken } from './fake-service.ts'
import { NativeDevice } from './native-parts.ts'

const undo: Array<() => unknown> = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

async function listen(server: Server | TcpServer): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  undo.push(() => server.close())
  return (server.address() as AddressInfo).port
}

const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    error => error,
  )

describe('the requests of the library', () => {
  it('[REL-244] are answered by no cache of the platform', async () => {
    const caches: (RequestCache | undefined)[] = []
    const service = new FakeService().on('POST /token', { access_token: fakeToken({ exp: 9e9 }) })
    const environment = service.environment({
      fetch: (input, init) => {
        caches.push(init?.cache)
        return service.fetch(input, init)
      },
    })
    await rejection(ApiHelper.getDeploymentInfo('https://a.test', { enabled: false }, { environment }))
    const config = { tokenUrl: 'https://a.test/token', clientId: 'c', clientSecret: 's' }
    await new ClientCredentialsAuthStrategy(config, environment).getToken()
    expect(caches).toEqual(['no-store', 'no-store'])
  })

  it('[REL-244] keep their address in React Native, whose fetch turns the option into a parameter', async () => {
    const requests: (RequestInit | undefined)[] = []
    const parts = { getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => bytes, appState: new NativeDevice().appState }
    const fetch = async (_input: string, init?: RequestInit) => {
      requests.push(init)
      return new Response('{}')
    }
    const environment = nativeEnvironment({ ...parts, fetch })
    await rejection(ApiHelper.getDeploymentInfo('https://a.test', { enabled: false }, { environment }))
    expect(requests).toHaveLength(1)
    expect(requests[0]).not.toHaveProperty('cache')
    expect(nativeEnvironment({ ...parts, fetch }).memory).toBe(environment.memory)
  })
})

describe('a grant of client credentials', () => {
  it('[REL-245] is repeated once where the reused connection had been closed before the answer', async () => {
    let requests = 0
    const server = createHttpServer((request, response) => {
      requests += 1
      if (requests === 2) return request.socket.destroy()
      response.end(JSON.stringify({ access_token: fakeToken({ exp: 9e9, jti: requests }) }))
    })
    const tokenUrl = `http://127.0.0.1:${await listen(server)}/token`
    const strategy = new ClientCredentialsAuthStrategy({ tokenUrl, clientId: 'c', clientSecret: 's' })
    await strategy.getToken()
    expect(await strategy.refresh()).toMatch(/^ey/)
    expect(requests).toBe(3)
  })
})

describe('an answer from something else than the service', () => {
  const call = (answer: () => Response) => {
    const service = new FakeService().on('GET /system/deploymentInfo', answer)
    const environment = service.environment()
    return rejection(ApiHelper.getDeploymentInfo('https://a.test', { enabled: false }, { environment }))
  }

  it('[REL-247] is named when it is an HTML page', async () => {
    expect(await call(() => new Response('<!doctype html><p>Sign in to the Wi-Fi'))).toMatchObject({
      reason: 'body',
      message: expect.stringContaining('an HTML page'),
    })
  })

  it('[REL-247] is named when a proxy asks for a sign-in', async () => {
    const proxy = createHttpServer((_request, response) => response.writeHead(407).end())
    const error = await rejection(
      ApiHelper.getDeploymentInfo(`http://127.0.0.1:${await listen(proxy)}`, { enabled: false }),
    )
    expect(error.message).toContain('HTTP 407: a proxy may require a sign-in')
  })

  it('[REL-247] is named when a network asks for a sign-in', async () => {
    expect((await call(() => new Response('', { status: 511 }))).message).toContain('requires a sign-in')
  })

  it('[REL-247] advises to check the id of an unknown agent', async () => {
    const service = new FakeService()
      .on('GET /system/deploymentInfo', { apiDomain: 'a.test', aiAgentDomain: 'a.test', tenantId: 't' })
      .on('GET /conversation/ai/v1/aiagents/x', () => new Response('', { status: 404 }))
    const api = new ApiHelper({ apiDomain: 'a.test', getToken: () => 'a.b.c' }, service.environment())
    const error = await rejection(api.getAgentDetails({ agentId: 'x' }))
    expect(error.message).toContain('Check the id of the agent.')
  })
})

describe('a chat that cannot be opened on Node', () => {
  const raw = (reply: string) => () =>
    listen(createServer(socket => socket.on('error', () => {}).once('data', () => socket.end(reply))))
  const closedPort = async () => {
    const server = createServer()
    const port = await listen(server)
    await new Promise(resolve => server.close(resolve))
    return port
  }
  const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'

  it.each<[name: string, domain: () => Promise<string>, why: RegExp]>([
    ['nothing listens', async () => `ws://127.0.0.1:${await closedPort()}`, /nothing listens on 127\.0\.0\.1/],
    ['the host is unknown', async () => 'wss://chat.invalid', /the host name chat\.invalid is unknown/],
    [
      'the port speaks no TLS',
      async () => `wss://127.0.0.1:${await raw('HTTP/1.1 400 No\r\n\r\n')()}`,
      /speaks ws, not wss/,
    ],
    [
      'the server speaks no HTTP',
      async () => `ws://127.0.0.1:${await raw('SSH-2.0-server\r\n')()}`,
      /did not answer in HTTP/,
    ],
    [
      'the handshake is odd',
      async () => `ws://127.0.0.1:${await raw(`${upgrade}Sec-WebSocket-Accept: no\r\n\r\n`)()}`,
      /is not a chat service \(.*Accept/,
    ],
    [
      'the connection is cut',
      async () => `ws://127.0.0.1:${await raw('')()}`,
      /closed the connection|is not a chat service/,
    ],
    [
      'a proxy asks for a sign-in',
      async () => `ws://127.0.0.1:${await raw('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')()}`,
      /status 407\).*requires a sign-in/,
    ],
    [
      'a network asks for a sign-in',
      async () => `ws://127.0.0.1:${await raw('HTTP/1.1 511 Network Authentication Required\r\n\r\n')()}`,
      /status 511\).*requires a sign-in/,
    ],
    [
      'a network answers with its own page',
      async () => `ws://127.0.0.1:${await raw('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>')()}`,
      /status 200\).*sign-in page of a network may have answered/,
    ],
    [
      'the certificate is not trusted',
      async () => {
        const service = await serveEmulator({ tls: true })
        undo.push(() => service.close())
        return service.url.replace('https', 'wss')
      },
      /certificate is not trusted/,
    ],
  ])('[REL-246] says why, and nothing of its session: %s', async (_name, domain, why) => {
    const service = await serveEmulator()
    undo.push(() => service.close())
    const webSocketDomain = await domain()
    const logged: unknown[] = []
    const logger = new Proxy(
      {},
      {
        get:
          () =>
          (...entry: unknown[]) =>
            logged.push(entry),
      },
    )
    const agent = new AiAgent(
      { id: 'help', endpoint: service.url, logger: logger as never },
      {
        fetch: async (input, init) => {
          const response = await fetch(input, init)
          if (!new URL(input).pathname.endsWith(paths.agentDetails('help'))) return response
          return Response.json({ ...((await response.json()) as object), webSocketDomain })
        },
      },
    )
    undo.push(() => agent.destroy())
    await agent.initialize()
    const sessionId = agent.getSessionId() as string
    expect(sessionId).toBeTruthy()
    const error = await rejection(agent.connect())
    expect(error).toMatchObject({ name: 'ConnectionError', reason: 'refused' })
    // An answer in HTTP has a status in place of a cause.
    expect(error.httpStatus ?? error.cause).toEqual(error.httpStatus ? expect.any(Number) : expect.any(Error))
    expect(error.message).toMatch(why)
    const explanation = await agent.explain()
    expect(explanation).toMatchObject({ error, text: expect.stringMatching(why) })
    for (const text of [
      inspect(error, { depth: 9, showHidden: true }),
      inspect(logged, { depth: 9 }),
      inspect(explanation, { depth: 9 }),
    ])
      expect(text).not.toContain(sessionId)
    expect(inspect(logged, { depth: 9 })).toMatch(why)
  })
})
