import { createEmulator } from '@aiagent/emulator'
import { eventually } from '@aiagent/test-support'
import type { ConversationMessage } from '@aiagent/view'
import { describe, expect, it } from 'vitest'
import { ASK, handingOver, ScriptedDesk } from '../../view/test/scripted-desk.ts'
import { ask, chunksOf, open } from '../test/open-conversation.ts'
import { createChatTransport, toChatMessage } from './ai-sdk.ts'
import { toExternalStore } from './assistant-ui.ts'
import { type Activity, createDirectLine } from './direct-line.ts'

describe('the chat transport', () => {
  it('[VIEW-12] streams all messages of an answer, with sources and options, and ends after a silence', async () => {
    const { agent, close } = await open()
    const transport = createChatTransport(agent, { quietMs: 50 })
    const chunks = await chunksOf(await transport.sendMessages(ask('options')))
    expect(chunks.map(({ type }) => type)).toEqual([
      'start',
      ...['start-step', 'text-start', 'text-delta', 'text-end', 'source-url', 'data-message', 'finish-step'],
      ...['start-step', 'text-start', 'text-delta', 'text-end', 'data-options', 'data-message', 'finish-step'],
      'finish',
    ])
    expect(chunks).toContainEqual({ type: 'data-options', data: { options: ['Red', 'Blue'], canChoose: true } })
    transport.close()
    await close()
  })

  it('[VIEW-52] [VIEW-12] carries reasoning, the step of a workflow and further data', async () => {
    const messageData = {
      reasoning: 'It is Tuesday.',
      workflowType: 'agentWorkflow',
      inputType: 'email',
      parcel: { stop: 3 },
    }
    const emulator = createEmulator({ reply: () => ({ content: 'Your email?', messageData }) })
    const { agent, view, close } = await open({}, {}, emulator)
    const transport = createChatTransport(agent, { quietMs: 50 })
    const chunks = await chunksOf(await transport.sendMessages(ask('hello')))
    expect(chunks.slice(1, 8).map(({ type }) => type)).toEqual([
      ...['start-step', 'reasoning-start', 'reasoning-delta', 'reasoning-end', 'text-start', 'text-delta', 'text-end'],
    ])
    const workflow = {
      workflow: { type: 'agentWorkflow', nodeType: undefined },
      input: { type: 'email' },
      data: { parcel: { stop: 3 } },
    }
    expect(chunks).toContainEqual({ type: 'data-workflow', data: workflow })
    await eventually(() => view.getSnapshot().messages.length === 2)
    const { messages, convertMessage } = toExternalStore(view)
    const [, answer] = messages as [unknown, ConversationMessage]
    const parts = [
      { type: 'reasoning', text: 'It is Tuesday.', state: 'done' },
      { type: 'text', text: 'Your email?', state: 'done' },
    ]
    expect(toChatMessage(answer).parts.slice(0, 2)).toEqual(parts)
    expect(convertMessage(answer).content).toEqual(parts.map(({ type, text }) => ({ type, text })))
    const directLine = createDirectLine(view)
    const activities: Activity[] = []
    directLine.activity$.subscribe({ next: each => void activities.push(each) })
    await eventually(() => activities.length >= 2)
    expect(String(answer.sessionId)).toMatch(/./)
    for (const form of [
      messages.map(each => toChatMessage(each as ConversationMessage)),
      activities,
      convertMessage(answer),
    ])
      expect(JSON.stringify(form)).not.toContain(answer.sessionId)
    expect(activities.at(-1)).toMatchObject({
      inputHint: 'expectingInput',
      channelData: { message: { data: workflow.data } },
    })
    directLine.end()
    transport.close()
    await close()
  })

  it('[VIEW-12] [VIEW-40] marks where a colleague continues, and where the agent does again', async () => {
    const desk = new ScriptedDesk()
    const emulator = createEmulator({ reply: handingOver })
    const { view, close } = await open({}, {}, emulator, true, { escalate: desk.escalate })
    const directLine = createDirectLine(view)
    const activities: Activity[] = []
    directLine.activity$.subscribe({ next: each => void activities.push(each) })
    await view.send(ASK)
    await eventually(() => desk.isOpen)
    await eventually(() => activities.some(({ name }) => name))
    // The hand-over is requested, but not accepted yet.
    expect(activities.filter(({ name }) => name)).toMatchObject([{ name: 'handoff.initiate' }])
    desk.say('Good morning')
    await eventually(() => view.getSnapshot().messages.some(({ content }) => content === 'Good morning'))
    view.endDesk()
    await eventually(() => view.getSnapshot().messages.at(-1)?.mark === 'desk_closed')
    await eventually(() => activities.at(-1)?.name)
    const ofDesk = activities.filter(({ channelData }) => Object(channelData?.['message']).author === 'colleague')
    expect(ofDesk).toMatchObject([
      { type: 'event', name: 'handoff.initiate' },
      { type: 'event', name: 'handoff.status', value: { state: 'accepted' } },
      { type: 'message', text: 'Good morning', from: { role: 'bot' } },
      { type: 'event', name: 'handoff.status', value: { state: 'completed' } },
    ])
    const { messages } = view.getSnapshot()
    const lastParts = messages.slice(-3).map(message => toChatMessage(message).parts[0])
    expect(lastParts).toMatchObject([
      { type: 'data-desk', data: { mark: 'desk_opened' } },
      { type: 'text', text: 'Good morning' },
      { type: 'data-desk', data: { mark: 'desk_closed' } },
    ])
    expect(toExternalStore(view).messages).toEqual(messages.filter(({ mark }) => !mark))
    directLine.end()
    await close()
  })

  it('[VIEW-80] reports a hand-over as accepted once a colleague has joined, and not before', async () => {
    const desk = new ScriptedDesk()
    const emulator = createEmulator({ reply: handingOver })
    const { view, close } = await open({}, {}, emulator, true, { escalate: desk.escalate })
    const directLine = createDirectLine(view)
    const events: unknown[] = []
    directLine.activity$.subscribe({
      next: ({ name, value, from }) =>
        name && void events.push([name, value?.state, from.name].filter(Boolean).join(' ')),
    })
    await view.send(ASK)
    const expected = ['handoff.initiate']
    for (const [name, event] of [
      ['Anna', 'handoff.status accepted Anna'],
      [null, 'handoff.initiate Anna'],
      ['Ben', 'handoff.status accepted Ben'],
    ] as const) {
      await eventually(() => events.length === expected.length, 'an event')
      expect(events).toEqual(expected)
      desk.set({ name })
      expected.push(event)
    }
    await eventually(() => events.length === expected.length, 'an event')
    expect(events).toEqual(expected)
    directLine.end()
    await close()
  })

  it('[VIEW-12] passes on what nobody asked for, and rejects what the service has no message for', async () => {
    const { agent, emulator, session, close } = await open()
    const unasked: string[] = []
    const transport = createChatTransport(agent, { quietMs: 20, onUnasked: ({ content }) => unasked.push(content) })
    emulator.control.say(session(), { content: 'By the way' })
    await eventually(() => unasked.length)
    expect(unasked).toEqual(['By the way'])
    const again = { ...ask('x'), trigger: 'regenerate-message' as const }
    await expect(transport.sendMessages(again)).rejects.toMatchObject({ code: 'not_supported' })
    const file = { ...ask('x'), messages: [{ parts: [{ type: 'file' }] }] }
    await expect(transport.sendMessages(file)).rejects.toMatchObject({ code: 'not_supported' })
    transport.close()
    await close()
  })

  it('[VIEW-12] ends with an error after its time limit, and with `abort` by its signal', async () => {
    const { agent, emulator, close } = await open()
    emulator.settings.replyDelayMs = 60_000
    const transport = createChatTransport(agent, { timeoutMs: 20 })
    expect((await chunksOf(await transport.sendMessages(ask('one')))).at(-1)?.type).toBe('error')
    const controller = new AbortController()
    const stream = await transport.sendMessages(ask('two', controller.signal))
    controller.abort()
    expect(await chunksOf(stream)).toEqual([{ type: 'start' }, { type: 'abort' }])
    transport.close()
    await close()
  })
})

describe('the external store of assistant-ui', () => {
  it('[VIEW-12] has messages, suggestions and feedback', async () => {
    const { view, emulator, session, close } = await open()
    await toExternalStore(view).onNew({ content: [{ type: 'text', text: 'options' }] })
    await eventually(() => view.getSnapshot().messages.length === 3)
    const { messages, suggestions, convertMessage, adapters, isSendDisabled } = toExternalStore(view)
    expect(suggestions).toEqual([{ prompt: 'Red' }, { prompt: 'Blue' }])
    expect(isSendDisabled).toBe(false)
    const [question, answer] = messages.map(convertMessage)
    expect(question).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'options' }] })
    expect(answer?.content[1]).toMatchObject({ type: 'source', url: 'https://docs.example.test/' })
    adapters.feedback.submit({ message: { id: answer?.id ?? '' }, type: 'negative' })
    await eventually(() => emulator.world.sessions.get(session())?.feedback.length)
    expect(toExternalStore(view).messages.map(convertMessage)[1]?.metadata.submittedFeedback).toEqual({
      type: 'negative',
    })
    await expect(toExternalStore(view).onNew({ content: [{ type: 'image' }] })).rejects.toThrow('Only text')
    await close()
  })

  it('[VIEW-12] takes no message as long as the user has to sign in', async () => {
    const { view, close } = await open()
    const snapshot = { ...view.getSnapshot(), needsLogin: true }
    expect(toExternalStore({ ...view, getSnapshot: () => snapshot }).isSendDisabled).toBe(true)
    await close()
  })
})

describe('the DirectLine object', () => {
  it('[VIEW-12] emits activities with suggested actions and send status, in the order of the service', async () => {
    const { view, emulator, agent, history, close } = await open()
    const directLine = createDirectLine(view)
    const activities: Activity[] = []
    const statuses: number[] = []
    directLine.activity$.subscribe(activity => activities.push(activity))
    directLine.connectionStatus$.subscribe(status => statuses.push(status))
    const post = (text: string) =>
      new Promise<string>((next, error) =>
        directLine
          .postActivity({ type: 'message', text, channelData: { clientActivityID: `mine-${text}` } })
          .subscribe({ next, error }),
      )
    const id = await post('options')
    await eventually(() => activities.some(({ suggestedActions }) => suggestedActions))
    expect(activities.find(activity => activity.id === id)?.channelData?.['webchat:send-status']).toBe('sent')
    expect(activities.findLast(({ suggestedActions }) => suggestedActions)?.suggestedActions?.actions).toMatchObject([
      { type: 'imBack', value: 'Red' },
      { type: 'imBack', value: 'Blue' },
    ])
    const lost = new Promise(resolve => agent.once('closed', resolve))
    emulator.control.dropSockets()
    await lost
    await post('Red')
    await eventually(() => view.getSnapshot().messages.length === 5)
    // WebChat takes no message while it reconnects, so it never learns that it does.
    expect(statuses).toEqual([2])
    const last = new Map(activities.filter(({ type }) => type === 'message').map(item => [item.id, item]))
    expect([...last.values()].map(({ text }) => text?.split('\n')[0])).toEqual(history())
    expect(last.get(id)?.channelData?.['clientActivityID']).toBe('mine-options')
    const refused = new Promise((next, error) => directLine.postActivity({ type: 'event' }).subscribe({ next, error }))
    await expect(refused).rejects.toThrow('no message for an activity of type event')
    directLine.end()
    expect(statuses.at(-1)).toBe(5)
    await close()
  })
})
