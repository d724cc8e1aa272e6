import { paths } from '@aiagent/protocol'
import { expect, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { EmulatorServer } from '../src/node/index.ts'

/** Waits until a check holds, for five seconds at most. */
export const until = (check: () => unknown) => vi.waitFor(check, { timeout: 5000, interval: 5 })

/** A new session of the help agent. */
export const openSession = async ({ emulator, url }: EmulatorServer, address = url): Promise<string> => {
  const headers = { authorization: `Bearer ${emulator.control.issueToken()}` }
  const response = await fetch(address + paths.session('help'), { method: 'POST', headers, body: '{}' })
  return ((await response.json()) as { sessionId: string }).sessionId
}

export interface HeardFrame {
  role?: string
  content?: string
  messageId?: string
  messageData?: { error_code?: string }
}

/** A chat connection of a plain ws client that is past its upgrade, with what it heard and how it ended. */
export const openChat = async (url: string, sessionId: string) => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/?sessionId=${sessionId}`)
  const heard: HeardFrame[] = []
  const outcome: { status?: number; code?: number; reason?: string } = {}
  socket.on('message', data => heard.push(JSON.parse(String(data)) as HeardFrame))
  socket.on('close', (code, reason) => Object.assign(outcome, { code, reason: String(reason) }))
  socket.on('unexpected-response', (_request, response) => {
    outcome.status = response.statusCode ?? 0
    socket.terminate()
  })
  socket.on('error', () => {})
  await until(() => expect(socket.readyState).not.toBe(WebSocket.CONNECTING))
  return { socket, heard, outcome }
}
