import { describe, expect, it } from 'vitest'
import { setUp } from '../../test/agent-harness.ts'
import type { WebSocketConstructor, WebSocketLike } from '../platform/environment.ts'

/** An agent whose chat is reset five times before it opens again, at a service whose transcript call never answers. */
async function reconnectAfterResets(revealsStatus: boolean | undefined) {
  const parts = setUp({ settings: { sendHistory: false } })
  const { clock, emulator, make } = parts
  let resets = 0
  let opened = 0
  const Socket = emulator.WebSocket as unknown as WebSocketConstructor
  function openOrReset(url: string): WebSocketLike {
    opened++
    if (resets === 0) return new Socket(url)
    resets--
    const socket: WebSocketLike = {
      readyState: 0,
      bufferedAmount: 0,
      onopen: null,
      onmessage: null,
      onclose: null,
      onerror: null,
      send() {},
      close() {},
    }
    queueMicrotask(() => (socket.onclose as ((event: object) => void) | null)?.({ code: 1006, reason: '' }))
    return socket
  }
  const WebSocket = Object.assign(openOrReset, { revealsStatus }) as unknown as WebSocketConstructor
  const { agent } = make({ baseReconnectDelay: 100, maxReconnectDelay: 100 }, { WebSocket })
  await agent.initialize()
  await agent.connect()
  const route = 'GET */conversations/sessions/*'
  emulator.faults.add({ kind: 'hang-request', route })
  resets = 5
  emulator.control.dropSockets()
  let elapsedMs = 0
  while (agent.getState() !== 'CONNECTED' || opened < 7) {
    await clock.advance(50)
    elapsedMs += 50
    if (elapsedMs > 60_000) throw new Error('The chat has not opened again.')
  }
  const asked = emulator.control.requests().filter(({ path }) => path.includes('/conversations/sessions/')).length
  await agent.destroy()
  return { asked, elapsedMs }
}

describe('a connection that is reset before it opens', () => {
  it('[REL-14] costs no transcript call where a rejection would have a status', async () => {
    const { asked, elapsedMs } = await reconnectAfterResets(true)
    expect(asked).toBe(0)
    expect(elapsedMs).toBeLessThanOrEqual(1_000)
  })

  it('[REL-14] is followed by a check of the session where a rejection has none', async () => {
    const { asked } = await reconnectAfterResets(undefined)
    expect(asked).toBe(5)
  })
})
