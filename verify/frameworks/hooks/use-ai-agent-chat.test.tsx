import { AiAgentProvider } from '@aiagent/react'
import { useAiAgentChat } from '@aiagent/react/ai-sdk'
import { cleanup, renderHook, waitFor } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, describe, expect, it } from 'vitest'
import { setUpAgents } from './agents.ts'

afterEach(cleanup)

const OPTIONS = { role: 'follow up question agent', messageData: { options: ['Red', 'Blue'] } }

/** The chat of an agent, in a mounted component. */
function setUpChat({ isStarted = true, ...options }: Parameters<typeof setUpAgents>[0] & { isStarted?: boolean } = {}) {
  const agents = setUpAgents(options)
  const agent = agents.newAgent()
  const wrapper = ({ children }: { children: ReactNode }) => (
    <AiAgentProvider agent={agent} autoStart={isStarted}>
      {children}
    </AiAgentProvider>
  )
  const { result } = renderHook(() => useAiAgentChat(), { wrapper })
  const texts = () =>
    result.current.messages.flatMap(({ parts }) => parts.flatMap(part => ('text' in part ? part.text : [])))
  const shows = (...expected: string[]) => waitFor(() => expect(texts()).toEqual(expected))
  const session = () => [...agents.emulator.world.sessions.keys()][0] ?? ''
  const connected = () => waitFor(() => expect(result.current.snapshot.connection.state).toBe('connected'))
  return { ...agents, agent, result, texts, shows, session, connected }
}

describe('messages', () => {
  it('are those of the conversation, with role, text, sources, options and hand-over as parts', async () => {
    const { result, shows, connected } = setUpChat({
      reply: () => [
        { content: 'See', messageData: { sources: [{ title: 'Manual', url: 'https://docs.example.test/' }] } },
        { content: 'Which?', ...OPTIONS },
      ],
    })
    await connected()
    await result.current.sendMessage({ text: 'hello' })
    await shows('hello', 'See', 'Which?')
    const [question, answer, options] = result.current.messages
    expect(question).toMatchObject({ role: 'user', parts: [{ type: 'text', text: 'hello', state: 'done' }] })
    expect(answer).toMatchObject({
      role: 'assistant',
      parts: [
        { type: 'text', text: 'See' },
        { type: 'source-url', sourceId: `${answer?.id}-0`, url: 'https://docs.example.test/', title: 'Manual' },
      ],
    })
    expect(options?.parts[1]).toEqual({
      type: 'data-options',
      data: { options: ['Red', 'Blue'], chosenOption: undefined, canChoose: true },
    })
    expect(options?.metadata).toBe(result.current.snapshot.messages[2])
  })

  it('stay the same objects until they change', async () => {
    const { result, shows } = setUpChat({ reply: ({ text }) => ({ content: text, ...(text === 'ask' && OPTIONS) }) })
    await result.current.sendMessage({ text: 'hello' })
    await shows('hello', 'hello')
    await waitFor(() => expect(result.current.messages[0]?.metadata.delivery).toBe('sent'))
    const before = result.current.messages
    await result.current.sendMessage({ text: 'ask' })
    await shows('hello', 'hello', 'ask', 'ask')
    expect(result.current.messages[0]).toBe(before[0])
    expect(result.current.messages[1]).toBe(before[1])
    const question = result.current.messages[3]
    await result.current.view.choose(question?.id ?? '', 'Blue')
    await shows('hello', 'hello', 'ask', 'ask', 'Blue', 'Blue')
    expect(result.current.messages[3]).not.toBe(question)
    expect(result.current.messages[3]?.parts[1]).toMatchObject({ data: { chosenOption: 'Blue', canChoose: false } })
  })

  it('appear unasked', async () => {
    const { emulator, result, session, shows, connected } = setUpChat()
    await connected()
    emulator.control.say(session(), { content: 'A colleague will call you.' })
    await shows('A colleague will call you.')
    expect(result.current.status).toBe('ready')
  })
})

describe('sendMessage()', () => {
  it('sends text, text parts, and messages before the chat is open', async () => {
    const { result, shows, counts } = setUpChat()
    await result.current.sendMessage({ text: 'one' })
    await result.current.sendMessage({
      parts: [
        { type: 'text', text: 'two' },
        { type: 'text', text: 'three' },
      ],
    })
    await shows('one', 'two\nthree', 'You said: one', 'You said: two\nthree')
    expect(counts()).toEqual({ sessionCalls: 1, sockets: 1, texts: ['one', 'two\nthree'] })
  })

  it.each([
    ['a file', { text: 'see', files: [{ type: 'file' }] }],
    ['a file among the parts', { parts: [{ type: 'file', url: 'data:,' }] }],
    ['a message that it would replace', { text: 'edited', messageId: 'm-1' }],
    ['no message', undefined],
  ])('rejects with not_supported for %s, and sends nothing', async (_name, message) => {
    const { result, counts, connected } = setUpChat()
    await connected()
    await expect(result.current.sendMessage(message)).rejects.toMatchObject({ code: 'not_supported' })
    expect(counts().texts).toEqual([])
    expect(result.current).toMatchObject({ messages: [], status: 'ready', error: undefined })
  })

  it('rejects blank text, and shows the error until the next message', async () => {
    const { result, shows, connected } = setUpChat()
    await connected()
    await expect(result.current.sendMessage({ text: ' ' })).rejects.toMatchObject({ reason: 'invalid' })
    await waitFor(() => expect(result.current).toMatchObject({ status: 'error', error: { reason: 'invalid' } }))
    await result.current.sendMessage({ text: 'hello' })
    await shows('hello', 'You said: hello')
    expect(result.current).toMatchObject({ status: 'ready', error: undefined })
  })
})

describe('status', () => {
  it('is submitted while the agent works, and ready after its answer', async () => {
    const { emulator, result, shows, connected } = setUpChat()
    emulator.settings.replyDelayMs = 100
    await connected()
    expect(result.current.status).toBe('ready')
    await result.current.sendMessage({ text: 'hello' })
    await waitFor(() => expect(result.current.status).toBe('submitted'))
    await shows('hello', 'You said: hello')
    await waitFor(() => expect(result.current.status).toBe('ready'))
  })

  it('stays without an error through a cut: the queued message leaves after the reconnect', async () => {
    const { emulator, result, counts, connected } = setUpChat()
    await connected()
    const { id } = emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
    emulator.control.dropSockets()
    await waitFor(() => expect(result.current.snapshot.connection.state).toBe('reconnecting'))
    await result.current.sendMessage({ text: 'meanwhile' })
    await waitFor(() => expect(result.current.messages.at(-1)?.metadata.delivery).toBe('queued'))
    expect(result.current).toMatchObject({ status: 'submitted', error: undefined })
    await result.current.sendMessage({ text: 'another' })
    expect(result.current.status).toBe('submitted')
    emulator.faults.lift({ id })
    await waitFor(() => expect(result.current.messages).toHaveLength(4))
    expect(counts().texts).toEqual(['meanwhile', 'another'])
    await waitFor(() => expect(result.current).toMatchObject({ status: 'ready', error: undefined }))
  })

  it('is error when the start fails, until clearError() or a successful retry()', async () => {
    const { emulator, result, connected } = setUpChat({ isStarted: false })
    const { id } = emulator.faults.add({ kind: 'answer', status: 500 })
    await expect(result.current.view.start()).rejects.toBeInstanceOf(Error)
    await waitFor(() => expect(result.current.status).toBe('error'))
    expect(result.current.error).toBe(result.current.snapshot.error?.error)
    result.current.clearError()
    await waitFor(() => expect(result.current).toMatchObject({ status: 'ready', error: undefined }))
    emulator.faults.lift({ id })
    await result.current.view.retry()
    await connected()
  })
})

describe('queued messages', () => {
  it('are among the messages, and experimental_removeQueuedMessage() takes them back', async () => {
    const { result, texts, counts, shows } = setUpChat({ isStarted: false })
    await result.current.sendMessage({ text: 'keep' })
    await result.current.sendMessage({ text: 'remove' })
    await shows('keep', 'remove')
    result.current.experimental_removeQueuedMessage(result.current.messages[1]?.id ?? '')
    await waitFor(() => expect(result.current.messages[1]?.metadata.delivery).not.toBe('queued'))
    expect(result.current.experimental_queuedMessages).toEqual([])
    await result.current.view.start()
    await waitFor(() => expect(texts()).toContain('You said: keep'))
    expect(counts().texts).toEqual(['keep'])
  })
})

describe('members without a message of the service', () => {
  it.each([
    'stop',
    'regenerate',
    'addToolResult',
    'addToolOutput',
    'addToolApprovalResponse',
    'experimental_sendQueuedMessageNow',
  ] as const)('%s() rejects with not_supported', async member => {
    const { result, counts } = setUpChat({ isStarted: false })
    await expect(result.current[member]('id')).rejects.toMatchObject({
      name: 'NotSupportedError',
      code: 'not_supported',
      message: expect.stringContaining(`${member}()`),
    })
    expect(counts()).toEqual({ sessionCalls: 0, sockets: 0, texts: [] })
  })

  it('setMessages() throws not_supported, unless it changes nothing', async () => {
    const { result, shows } = setUpChat()
    await result.current.sendMessage({ text: 'hello' })
    await shows('hello', 'You said: hello')
    const { messages, setMessages } = result.current
    setMessages(messages)
    setMessages(before => before)
    setMessages(before => before.filter(({ parts }) => parts.length > 0))
    expect(result.current.messages).toBe(messages)
    for (const change of [[], messages.slice(1), () => [], messages.map(message => ({ ...message }))])
      expect(() => setMessages(change)).toThrow(expect.objectContaining({ code: 'not_supported' }))
    expect(result.current.messages).toBe(messages)
  })

  it('resumeStream() resolves, since the agent resumes by itself', async () => {
    const { result, counts, connected } = setUpChat()
    await connected()
    await expect(result.current.resumeStream()).resolves.toBeUndefined()
    expect(counts()).toMatchObject({ sessionCalls: 1, sockets: 1 })
  })
})

describe('the chat of a component', () => {
  it('has members that stay the same functions, and an id of its own', async () => {
    const { result, connected, shows } = setUpChat()
    const before = result.current
    await connected()
    await result.current.sendMessage({ text: 'hello' })
    await shows('hello', 'You said: hello')
    expect(result.current.sendMessage).toBe(before.sendMessage)
    expect(result.current.setMessages).toBe(before.setMessages)
    expect(result.current.id).toBe(before.id)
    expect(setUpChat({ isStarted: false }).result.current.id).not.toBe(before.id)
  })

  it('is empty for another user after a logout', async () => {
    const { agent, result, shows } = setUpChat()
    await result.current.sendMessage({ text: 'secret' })
    await shows('secret', 'You said: secret')
    await agent.logout()
    await shows()
    await result.current.view.start()
    await result.current.sendMessage({ text: 'next' })
    await shows('next', 'You said: next')
  })
})
