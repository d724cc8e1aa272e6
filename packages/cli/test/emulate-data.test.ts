import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConversationRecord } from '@aiagent/emulator'
import { paths, type ServerMessage } from '@aiagent/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { type Program, startProgram } from './program.ts'

const programs: Program[] = []
const folders: string[] = []
afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.process.kill('SIGKILL')
    await program.ended
  }
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

async function emulate(port: string, data: string): Promise<{ program: Program; url: string }> {
  const options = ['--capabilities', 'receipts,resume', '--reply-delay', '20', '--data', data]
  const program = startProgram(['emulate', '--port', port, ...options])
  programs.push(program)
  const [, url = ''] = await program.until(/Try it: aiagent chat --endpoint (\S+)\n/)
  return { program, url }
}

/** The smallest client of the extension: sends what has no receipt again, and names the last number it has seen. */
class SmallClient {
  readonly unconfirmed = new Map<string, string>()
  readonly frames: ServerMessage[] = []
  lastSeq = 0
  #socket: WebSocket | undefined
  readonly #address: string

  constructor(url: string, sessionId: string) {
    this.#address = `${url.replace('http', 'ws')}/?sessionId=${sessionId}`
  }

  async connect(): Promise<void> {
    const socket = new WebSocket(`${this.#address}&lastSeq=${this.lastSeq}`)
    this.#socket = socket
    socket.on('error', () => {})
    socket.on('message', data => this.#receive(JSON.parse(data.toString()) as ServerMessage))
    await new Promise((resolve, reject) => {
      socket.once('open', resolve)
      socket.once('close', reject)
    })
    for (const [id, content] of this.unconfirmed) this.#write(id, content)
  }

  say(id: string, content: string): void {
    this.unconfirmed.set(id, content)
    this.#write(id, content)
  }

  close(): void {
    this.#socket?.close()
  }

  #write(messageId: string, content: string): void {
    if (this.#socket?.readyState === WebSocket.OPEN)
      this.#socket.send(JSON.stringify({ persona: 'customer', role: 'human', content, messageId }))
  }

  #receive(frame: ServerMessage): void {
    const { messageId } = (frame.messageData ?? {}) as { messageId?: string }
    if (frame.role === 'receipt' && messageId !== undefined) this.unconfirmed.delete(messageId)
    if (typeof frame.seq !== 'number' || frame.seq <= this.lastSeq) return
    this.lastSeq = frame.seq
    this.frames.push(frame)
  }
}

describe('aiagent emulate --data', () => {
  it('[REL-76] loses nothing and does nothing twice when it is killed in mid-conversation and started again', async () => {
    const data = await mkdtemp(join(tmpdir(), 'aiagent-data-'))
    folders.push(data)
    let { program, url } = await emulate('0', data)
    const post = async (path: string, body: unknown, headers = {}) =>
      (await fetch(url + path, { method: 'POST', body: JSON.stringify(body), headers })).json() as Promise<unknown>
    const form = { grant_type: 'client_credentials', client_id: 'clientId', client_secret: 'clientSecret' }
    const response = await fetch(`${url}/oauth/TEN0001/anonymous/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    const { access_token } = (await response.json()) as { access_token: string }
    const authorization = `Bearer ${access_token}`
    const { sessionId } = (await post(paths.session('help'), {}, { authorization })) as { sessionId: string }

    const client = new SmallClient(url, sessionId)
    const said: string[] = []
    for (let round = 0; round < 3; round++) {
      await client.connect()
      for (let nth = 0; nth < 20; nth++) {
        const text = `message ${said.length + 1}`
        said.push(text)
        client.say(text, text)
      }
      // Some are answered, some accepted only, and of some nobody knows.
      const enough = client.frames.length + 3
      await vi.waitFor(() => expect(client.frames.length).toBeGreaterThan(enough), { timeout: 20_000, interval: 5 })
      program.process.kill('SIGKILL')
      expect(await program.ended).toBe('SIGKILL')
      ;({ program, url } = await emulate(new URL(url).port, data))
    }
    await client.connect()
    const readRecord = async () => {
      const page = await fetch(`${url}/_control/sessions/${sessionId}/record`)
      return (await page.json()) as ConversationRecord
    }
    await vi.waitFor(
      async () => {
        expect(client.unconfirmed.size).toBe(0)
        const { unanswered, lastSeq } = await readRecord()
        expect(unanswered).toBe(0)
        expect(client.lastSeq).toBe(lastSeq)
      },
      { timeout: 20_000, interval: 50 },
    )
    const { accepted, history } = await readRecord()
    expect(accepted.filter(({ duplicate }) => !duplicate).map(({ message }) => message.content)).toEqual(said)
    expect(history.filter(({ persona }) => persona === 'customer').map(({ content }) => content)).toEqual(said)
    const heard = client.frames.filter(({ persona }) => persona === 'agent').map(({ messageId }) => messageId)
    expect(heard).toEqual(history.flatMap(({ persona, messageId }) => (persona === 'agent' ? [messageId] : [])))
    client.close()
    // The token of the first process is still good.
    expect(await post(paths.session('help'), {}, { authorization })).toMatchObject({ sessionId: expect.any(String) })
  }, 90_000)
})
