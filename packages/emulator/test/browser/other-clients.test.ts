import { createHash, createPublicKey } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { paths } from '@aiagent/protocol'
import { hasChromium, launchChromium } from '@aiagent/test-support/chromium'
import { afterEach, describe, expect, it } from 'vitest'
import { serveEmulator } from '../../src/node/index.ts'

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

describe.skipIf(!hasChromium())('a page without our client', () => {
  it('[REL-40] connects to chat.<aiAgentDomain>, which the browser resolves itself', async () => {
    const certificateFolder = await mkdtemp(join(tmpdir(), 'emulator-'))
    undo.push(() => rm(certificateFolder, { recursive: true }))
    const reply = ({ text }: { text: string }) => ({ content: `You said: ${text}` })
    const server = await serveEmulator({ tls: true, certificateFolder, reply })
    undo.push(() => server.close())
    const key = createPublicKey(await readFile(server.certificateFile ?? '', 'utf8'))
    const hash = createHash('sha256')
      .update(key.export({ type: 'spki', format: 'der' }))
      .digest('base64')
    const chromium = await launchChromium({ args: [`--ignore-certificate-errors-spki-list=${hash}`] })
    undo.push(() => chromium.close())
    const page = await chromium.newPage()
    await page.goto(server.url + paths.deploymentInfo())
    const token = server.emulator.control.issueToken()
    const heard = await page.evaluate(
      async ({ info, session, token }) => {
        const { aiAgentDomain } = await (await fetch(info)).json()
        const headers = { authorization: `Bearer ${token}` }
        const { sessionId } = await (await fetch(session, { method: 'POST', headers })).json()
        const socket = new WebSocket(`wss://chat.${aiAgentDomain}/?sessionId=${sessionId}`)
        return new Promise<string>(resolve => {
          socket.onclose = ({ code }) => resolve(`closed with ${code}`)
          socket.onmessage = ({ data }) => {
            const { content } = JSON.parse(data)
            if (content !== undefined) resolve(`${socket.url.split('/')[2]?.split(':')[0]}: ${content}`)
          }
          socket.onopen = () => socket.send(JSON.stringify({ persona: 'customer', role: 'human', content: 'hello' }))
        })
      },
      { info: paths.deploymentInfo(), session: paths.session('help'), token },
    )
    expect(heard).toBe('chat.localhost: You said: hello')
  })
})
