import { AiAgent } from '@aiagent/client'
import { createEmulator } from '@aiagent/emulator'
import { expect, it } from 'vitest'
import type { EventEntry } from './journal.ts'
import { observeAgent } from './observe-agent.ts'

it('[PLAY-02] says in words what each event reports, also for a frame without text', async () => {
  const escalation = { escalation: true, escalationData: { live: true, entrypointUrl: 'https://live.example.test' } }
  const { origin, fetch, WebSocket } = createEmulator({
    reply: ({ text }) =>
      text === 'human' ? { content: 'One moment.', messageData: escalation } : { content: 'Hello.' },
  })
  const agent = new AiAgent({ id: 'help', endpoint: origin, enableLogging: false }, { fetch, WebSocket })
  const events: Omit<EventEntry, 'id' | 'at'>[] = []
  observeAgent(agent, { enter: () => {}, addDelivery: () => {}, addEvent: event => events.push(event) }, () => {})
  await agent.initialize()
  await agent.connect()
  await agent.ask('hello')
  await agent.ask('human')
  await agent.destroy()

  const saysNothing = events.filter(({ summary }) => /^[{[]|: *$|^$|undefined/.test(summary))
  expect(new Set(saysNothing.map(({ type }) => type))).toEqual(new Set(['connected']))
  const said = events.map(({ type, summary }) => `${type} ${summary}`)
  expect(said).toContain('transcriptUpdate received: heartbeat')
  expect(said).toContain('workingChanged works on an answer')
  expect(said).toContain('escalation live · One moment.')
})
