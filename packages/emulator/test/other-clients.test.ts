import { X509Certificate } from 'node:crypto'
import { lookup as resolveName } from 'node:dns'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request } from 'node:https'
import type { LookupFunction } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { paths } from '@aiagent/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type EmulatorServer, type ServeOptions, serveEmulator } from '../src/node/index.ts'

let folder: string
let server: EmulatorServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'emulator-'))
})
afterEach(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

const serve = async (options: ServeOptions = {}) => {
  const reply: ServeOptions['reply'] = ({ text }) => ({ content: `You said: ${text}` })
  server = await serveEmulator({ tls: true, certificateFolder: folder, reply, ...options })
  return readFile(server.certificateFile ?? '', 'utf8')
}

/** Resolves every name to this machine, as a line of the hosts file does. */
const lookup: LookupFunction = (_name, options, done) => resolveName('127.0.0.1', options, done)

/** A client that trusts the certificate and knows nothing but the address of the deployment. */
function callWith(ca: string) {
  return (address: string, method = 'GET', token = ''): Promise<Record<string, string>> =>
    new Promise((resolve, reject) => {
      const headers = { ...(token && { authorization: `Bearer ${token}` }) }
      const call = request(address, { method, ca, lookup, headers }, async response => {
        let text = ''
        for await (const chunk of response) text += String(chunk)
        resolve(JSON.parse(text) as Record<string, string>)
      })
      call.on('error', reject)
      call.end()
    })
}

describe('a third-party client', () => {
  it.each([
    ['chat.localhost', undefined],
    ['chat.agents.example.test', 'chat.agents.example.test'],
  ])('[REL-40] holds a conversation at %s over TLS', async (name, chatHost) => {
    const ca = await serve(chatHost === undefined ? {} : { chatHost })
    const call = callWith(ca)
    const info = await call(server.url + paths.deploymentInfo())
    const { port } = new URL(server.url)
    expect(info.apiDomain).toBe(`127.0.0.1:${port}`)
    expect(info.aiAgentDomain).toBe(`${name.slice('chat.'.length)}:${port}`)

    const token = server.emulator.control.issueToken()
    const details = await call(`https://${info.apiDomain}${paths.agentDetails('help')}`, 'GET', token)
    expect(details.webSocketDomain).toBe(`127.0.0.1:${port}`)
    const { sessionId } = await call(`https://${info.apiDomain}${paths.session('help')}`, 'POST', token)
    const socket = new WebSocket(`wss://chat.${info.aiAgentDomain}/?sessionId=${sessionId}`, { ca, lookup })
    const answer = new Promise<string>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('message', data => {
        const { content } = JSON.parse(String(data)) as { content?: string }
        if (content !== undefined) resolve(content)
      })
    })
    socket.on('open', () => socket.send(JSON.stringify({ persona: 'customer', role: 'human', content: 'hello' })))
    expect(await answer).toBe('You said: hello')
    const closed = new Promise(resolve => socket.once('close', resolve))
    socket.close()
    await closed
  })

  it('[REL-40] finds the host in the certificate, and those of earlier emulators', async () => {
    await serve({ chatHost: 'chat.first.test' })
    await server.close()
    const certificate = new X509Certificate(await serve({ chatHost: 'chat.second.test' }))
    for (const name of ['chat.first.test', 'chat.second.test', 'chat.localhost', 'localhost'])
      expect(certificate.checkHost(name)).toBe(name)
  })

  it('[REL-40] receives an error if the chat host does not begin with "chat."', async () => {
    await serve()
    await expect(serveEmulator({ chatHost: 'agents.test' })).rejects.toThrow(TypeError)
    await expect(serveEmulator({ chatHost: 'chat.agents.test:8600' })).rejects.toThrow(TypeError)
  })
})
