import { describe, expect, it } from 'vitest'
import { lastSession, payloadsOf, requestsTo, setUp } from '../../test/agent-harness.ts'
import type { WebSocketConstructor, WebSocketLike } from '../platform/environment.ts'

// Loaded before, since the manual clock does not wait for a file.

/** Time after which every reconnect and every request of the tests has ended, in milliseconds. */
const SETTLED_MS = 20_000

/** A socket class whose first socket opens at the service, while the client gets neither its opening nor its frames. */
function losingFirstOpening(WebSocket: WebSocketConstructor): WebSocketConstructor {
  let count = 0
  return class extends WebSocket {
    constructor(url: string) {
      super(url)
      if (count++ > 0) return
      const ignored = { set: () => {} } satisfies PropertyDescriptor
      Object.defineProperties(this as WebSocketLike, { onopen: ignored, onmessage: ignored })
    }
  }
}

describe('[REL-96] [REL-99] a session whose first opening only the service has seen', () => {
  it.each([
    ['a history frame', [], true, 'history'],
    ['the transcript call', [], false, 'rest'],
    ['a replay, with a history frame', ['resume'], true, 'resume'],
    ['a replay, without a history frame', ['resume'], false, 'resume'],
  ] as const)(
    'recovers by %s what the agent said before the second one',
    async (_, capabilities, sendHistory, source) => {
      const { emulator, clock, make } = setUp({ settings: { capabilities: [...capabilities], sendHistory } })
      const { agent, told } = make({}, { WebSocket: losingFirstOpening(emulator.WebSocket) })
      await agent.initialize()
      const connecting = agent.connect().catch(() => {})
      await clock.advance(100)
      emulator.control.say(lastSession(emulator), { content: 'Welcome' })
      emulator.control.dropSockets()
      await clock.advance(SETTLED_MS)
      await connecting
      expect(agent.getState()).toBe('CONNECTED')
      expect(agent.getTranscript().map(({ message }) => message.content)).toContain('Welcome')
      emulator.control.say(lastSession(emulator), { content: 'Anything else?' })
      await clock.advance(SETTLED_MS)
      emulator.control.dropSockets()
      await clock.advance(SETTLED_MS)
      const lines = agent.getTranscript().map(({ message, recovered }) => [message.content, recovered ?? false])
      expect(lines.filter(([content]) => content)).toEqual([
        ['Welcome', true],
        ['Anything else?', false],
      ])
      expect(payloadsOf(told, 'messagesRecovered')).toMatchObject([{ source, messages: [{ content: 'Welcome' }] }])
      await agent.destroy()
    },
  )

  it('asks for no transcript where no attempt has failed', async () => {
    const { emulator, clock, make } = setUp({ settings: { sendHistory: false } })
    const { agent } = make()
    await agent.initialize()
    await agent.connect()
    await clock.advance(SETTLED_MS)
    expect(requestsTo(emulator).filter(each => each === `GET ${lastSession(emulator)}`)).toEqual([])
    await agent.destroy()
  })
})
