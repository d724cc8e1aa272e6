import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveEmulator } from '@aiagent/emulator/node'
import { afterEach, describe, expect, it } from 'vitest'
import { AiAgent } from '../ai-agent.ts'

const undo: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/** A service over TLS with a certificate that this process does not trust, and the certificate. */
async function serveTls() {
  const folder = await mkdtemp(join(tmpdir(), 'aiagent-tls-'))
  undo.push(() => rm(folder, { recursive: true }))
  const service = await serveEmulator({ tls: true, certificateFolder: folder })
  undo.push(() => service.close())
  const ca = await readFile(service.certificateFile ?? '', 'utf8')
  return { service, ca }
}

/** A `fetch` with options of `node:https`. */
const fetchWith =
  (options: RequestOptions) =>
  (input: string, init: RequestInit = {}): Promise<Response> =>
    new Promise((resolve, reject) => {
      const headers = Object.fromEntries(new Headers(init.headers))
      const call = request(input, { ...options, headers, method: init.method ?? 'GET' }, async answer => {
        const body = (await answer.toArray()).join('')
        resolve(new Response(body || null, { status: answer.statusCode ?? 500 }))
      })
      call.on('error', reject)
      call.end(init.body ? String(init.body) : undefined)
    })

describe('a host on Node with its own certificate authority', () => {
  it('[REL-28] can pass a fetch and socket options to communicate over TLS', async () => {
    const { service, ca } = await serveTls()
    const agent = new AiAgent(
      { id: 'help', endpoint: service.url },
      { fetch: fetchWith({ ca }), webSocketOptions: { ca } },
    )
    undo.push(() => agent.destroy())
    await agent.initialize()
    await agent.connect()
    expect(agent.isConnected()).toBe(true)
  })

  it('[REL-28] [REL-24] receives an error about the untrusted certificate without them', async () => {
    const { service } = await serveTls()
    const agent = new AiAgent({ id: 'help', endpoint: service.url })
    undo.push(() => agent.destroy())
    await expect(agent.initialize()).rejects.toMatchObject({
      reason: 'network',
      message: expect.stringContaining('certificate is not trusted'),
    })
  })
})
