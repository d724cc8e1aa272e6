import { LogLevel } from '@aiagent/client'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { verifies } from '../verifies.ts'
import { differsIn, WITH_REFUSED_CHATS } from '../weathers.ts'

verifies(
  'EVT-08',
  'connecting, an answer and disconnecting emit their events in order, each with its envelope',
  async service => {
    const agent = service.newAgent()
    const journal = new Journal(agent)
    await agent.initialize()
    await agent.connect()
    await agent.send('hello')
    await eventually(() => journal.answers.length)
    await service.through(agent.disconnect())
    expect(journal.types).toEqual([
      'initialized',
      'stateChanged',
      'stateChanged',
      'connected',
      'transcriptUpdate',
      'deliveryUpdate',
      'deliveryUpdate',
      'transcriptUpdate',
      'message',
      'heartbeat',
      'workingChanged',
      'transcriptUpdate',
      'message',
      'agentMessage',
      'workingChanged',
      // The graceful disconnect.
      'transcriptUpdate',
      'stateChanged',
      'deliveryUpdate',
      'closed',
    ])
    expect(journal.of('stateChanged')).toEqual([
      { previousState: 'IDLE', state: 'CONNECTING' },
      { previousState: 'CONNECTING', state: 'CONNECTED' },
      { previousState: 'CONNECTED', state: 'CLOSED' },
    ])
    expect(journal.of('connected')).toEqual([{}])
    expect(journal.of('closed')).toMatchObject([{ code: 1000, reason: expect.any(String), willReconnect: false }])
    for (const type of ['connected', 'agentMessage', 'heartbeat', 'message', 'closed'] as const) {
      expect(journal.events(type)[0], type).toMatchObject({ type, agentId: 'help', sessionId: service.session })
      expect(journal.events(type)[0]?.timestamp, type).toBeLessThanOrEqual(service.clock.now())
    }
  },
  { differs: differsIn(WITH_REFUSED_CHATS, 'each attempt has its events') },
)

verifies(
  'EVT-08',
  'message, agentMessage, errorMessage and heartbeat carry the content of their frames',
  async service => {
    const agent = await service.connectedAgent()
    const journal = new Journal(agent)
    const { session, control } = service
    control.pushFrame(session, { persona: 'system', role: 'heartbeat' })
    control.pushFrame(session, {
      messageId: 'm-1',
      persona: 'agent',
      role: 'customer support agent',
      content: 'Good day.',
      messageData: { reasoning: 'politeness' },
      timestamp: 1_790_000_000_000,
    })
    control.pushFrame(session, {
      persona: 'metadata',
      role: 'error',
      content: 'Too many messages.',
      messageData: { error_code: '429-001' },
    })
    await eventually(() => journal.of('errorMessage').length)

    expect(journal.of('heartbeat')).toMatchObject([
      { type: 'heartbeat_processed', message: { persona: 'system', role: 'heartbeat' } },
    ])
    expect(journal.of('agentMessage')).toMatchObject([
      {
        type: 'agent_message',
        messageId: 'm-1',
        from: { name: 'Help Desk', isAi: true },
        message: {
          content: 'Good day.',
          reasoning: 'politeness',
          showFeedback: true,
          raw: { reasoning: 'politeness' },
        },
      },
    ])
    const [told] = journal.of('errorMessage')
    expect(told?.error).toBeInstanceOf(Error)
    expect(told?.error.message).toBe('Too many messages.')
    expect(told?.message.messageData?.error_code).toBe('429-001')
    expect(journal.of('message').map(({ data }) => (data as { role: string }).role)).toEqual([
      'heartbeat',
      'customer support agent',
      'error',
    ])
    // An error message of the service does not close the chat.
    expect(journal.of('error')).toEqual([])
    expect(agent.isConnected()).toBe(true)
  },
)

verifies(
  'EVT-08',
  'error is emitted once for a failed connection, and for an unreadable frame before its raw data',
  async service => {
    const agent = service.newAgent({ id: 'unreachable' })
    const journal = new Journal(agent)
    await agent.initialize()
    await expect(agent.connect()).rejects.toMatchObject({ code: 'CONNECTION_ERROR' })
    expect(journal.errorCodes).toEqual(['CONNECTION_ERROR'])
    expect(journal.of('stateChanged').map(({ state }) => state)).toEqual(['CONNECTING', 'RECONNECTING'])

    const other = await service.connectedAgent()
    const heard = new Journal(other)
    service.control.pushFrame(service.session, 'no frame')
    await eventually(() => heard.of('message').length)
    expect(heard.types).toEqual(['error', 'message'])
    expect(heard.of('error')).toMatchObject([{ error: { code: 'MESSAGE_ERROR', reason: 'unreadable' } }])
    expect(heard.of('message')).toEqual([{ data: 'no frame' }])
  },
)

verifies(
  'EVT-09',
  'a listener that throws or rejects breaks neither the library nor the other listeners, and is logged as an error',
  async service => {
    const agent = service.newAgent({ baseReconnectDelay: 1, maxReconnectDelay: 1 })
    const logged: string[] = []
    agent.logger.on('log', ({ level, error }) => {
      if (level === LogLevel.ERROR && error) logged.push(String((error as Error).message))
    })
    const names = [
      'initialized',
      'stateChanged',
      'connected',
      'transcriptUpdate',
      'message',
      'heartbeat',
      'workingChanged',
      'agentMessage',
      'queueFlushed',
      'deliveryUpdate',
      'closed',
    ] as const
    for (const name of names) {
      agent.on(name, () => {
        throw new Error(`thrown by ${name}`)
      })
      agent.on(name, (async () => {
        throw new Error(`rejected by ${name}`)
      }) as () => void)
    }
    const journal = new Journal(agent)
    await agent.initialize()
    await agent.send('one')
    await agent.connect()
    await eventually(() => journal.answers.length === 1)
    service.control.dropSockets()
    await eventually(() => !agent.isConnected())
    await service.until(() => agent.isConnected())
    await agent.send('two')
    await eventually(() => journal.answers.length === 2)
    expect(new Set(journal.types)).toEqual(new Set([...names, 'chatHistory']))
    for (const name of names) {
      expect(logged, name).toContain(`thrown by ${name}`)
      await eventually(() => logged.includes(`rejected by ${name}`))
    }
  },
)
