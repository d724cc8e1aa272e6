import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { lastSession, namesOf, passing, payloadsOf, setUp } from '../../test/agent-harness.ts'
import { setUpTab } from '../../test/resume-harness.ts'
import { AiAgent } from '../ai-agent.ts'
import type { Trace } from '../platform/trace.ts'
import { parseTrace } from './parse-trace.ts'
import { createRecorder, type RecorderOptions } from './recorder.ts'

const reply = ({ text }: { text: string }) => ({ content: `You said: ${text}`, messageData: { reasoning: 'private' } })

async function record(options: RecorderOptions = {}, more: object = {}) {
  const recorder = createRecorder(options)
  const all = setUp({ reply })
  const made = all.make({ recorder, ...more })
  await made.agent.initialize({ context: { plan: 'gold-secret' } })
  await made.agent.connect()
  const talk = async (text: string) => {
    const before = payloadsOf(made.told, 'agentMessage').length
    await made.agent.send(text)
    await eventually(() => payloadsOf(made.told, 'agentMessage').length > before)
  }
  return { ...all, ...made, recorder, talk }
}

/** Kinds of entries with what tells them apart. */
const outline = ({ entries }: Trace) =>
  entries.map(entry => {
    if (entry.kind === 'call') return `call ${entry.name}`
    if (entry.kind === 'settled') return `settled ${entry.call} ${entry.outcome}`
    if (entry.kind === 'event') return `event ${entry.type}`
    if (entry.kind === 'sent' || entry.kind === 'received') return `${entry.kind} ${entry.frame.role}`
    return entry.kind
  })

describe('[REL-79] a recorder', () => {
  it('works on the default platform, which is frozen', async () => {
    const recorder = createRecorder()
    const agent = new AiAgent({ id: 'help', endpoint: 'https://agents.example.test', recorder })
    expect(recorder.exportTrace().entries).toEqual([])
    await agent.destroy()
  })

  it('holds calls, requests, frames, states and events in order', async () => {
    const { agent, recorder, emulator, talk } = await record()
    await talk('Hello')
    emulator.control.dropSockets(1012)
    await eventually(() => agent.getState() === 'RECONNECTING')
    const trace = recorder.exportTrace()
    const lines = outline(trace)
    expect(lines.slice(0, 1)).toEqual(['call initialize'])
    expect(lines.filter(line => line === 'request').length).toBeGreaterThan(3)
    const from = lines.indexOf('call connect')
    expect(lines.slice(from)).toEqual([
      'call connect',
      'event stateChanged',
      'connecting',
      'open',
      'event stateChanged',
      'event connected',
      'settled 2 resolved',
      'call send',
      'sent human',
      'event transcriptUpdate',
      'event deliveryUpdate',
      'event deliveryUpdate',
      'settled 3 resolved',
      'received heartbeat',
      'event transcriptUpdate',
      'received customer support agent',
      'event transcriptUpdate',
      'event agentMessage',
      'closed',
      'event stateChanged',
      'event closed',
    ])
    expect(trace).toMatchObject({ format: 'aiagent-trace', version: 1, dropped: 0, isAuthenticated: false })
  })

  it('holds no token, session id, context, content or data of a message', async () => {
    const { agent, recorder, emulator, talk } = await record()
    await talk('A very secret question')
    await agent.updateAccessToken(emulator.control.issueToken())
    const text = JSON.stringify(recorder.exportTrace())
    const secrets = ['secret', 'private', 'You said', 'eyJ', lastSession(emulator)]
    expect(secrets.every(Boolean)).toBe(true)
    for (const secret of secrets) expect(text).not.toContain(secret)
  })

  it.each([true, false])('holds no session id in the path of a request, with content: %s', async content => {
    const { load, talkAndLeave } = setUpTab()
    const session = await talkAndLeave('Hello')
    const recorder = createRecorder({ content })
    const { agent } = load({ recorder })
    await agent.initialize()
    const paths = recorder.exportTrace().entries.flatMap(entry => (entry.kind === 'request' ? entry.path : []))
    expect(paths).toContainEqual(expect.stringMatching(/\/sessions\/-$/))
    expect(session).not.toBe('')
    expect(JSON.stringify(recorder.exportTrace())).not.toContain(session)
    await agent.destroy()
  })

  it('finds equal texts by a hash that another recording does not have', async () => {
    const texts = async () => {
      const { recorder, talk } = await record()
      await talk('Hello')
      await talk('Hello')
      return recorder.exportTrace().entries.flatMap(entry => (entry.kind === 'call' ? (entry.text ?? []) : []))
    }
    const [first, again] = await texts()
    expect(first).toMatch(/^#[\da-f]{12}:5$/)
    expect(again).toBe(first)
    expect((await texts())[0]).not.toBe(first)
  })

  it('keeps content only on request', async () => {
    const { recorder, talk } = await record({ content: true })
    await talk('Hello')
    const trace = recorder.exportTrace()
    expect(trace.hasContent).toBe(true)
    expect(trace.entries).toContainEqual(
      expect.objectContaining({ kind: 'sent', frame: { persona: 'customer', role: 'human', content: 'Hello' } }),
    )
    expect(JSON.stringify(trace)).toContain('You said: Hello')
  })

  it.each(['logout', 'change of the user'])('[SEC-15] keeps no content of a user after a %s', async how => {
    const { clock, emulator, make } = setUp({ reply })
    const issue = (subject: string) => emulator.control.issueToken({ subject })
    let token = issue('customer')
    const auth = { getToken: () => token }
    const recorder = createRecorder({ content: true })
    const { agent, told } = make({ id: 'account', auth, recorder })
    const talk = async (text: string) => {
      await agent.initialize()
      await agent.connect()
      await agent.send(text)
      await eventually(() => JSON.stringify(told).includes(`You said: ${text}`))
    }
    await talk('first secret')
    emulator.control.dropSockets()
    await eventually(() => agent.getState() === 'RECONNECTING')
    await passing(clock, agent.connect())
    await eventually(() => namesOf(told).includes('chatHistory'))
    const before = outline(recorder.exportTrace())
    token = issue('new-customer')
    await passing(clock, how === 'logout' ? agent.logout() : agent.updateAccessToken(token))
    await talk('second')
    const trace = recorder.exportTrace()
    expect(JSON.stringify(trace)).not.toContain('first secret')
    expect(JSON.stringify(trace)).toContain('You said: second')
    expect(outline(trace).slice(0, before.length)).toEqual(before)
    await agent.destroy()
  })

  it('keeps the newest entries, and says how many it dropped', async () => {
    const { recorder, talk } = await record({ limit: 20 })
    for (let nth = 0; nth < 10; nth++) await talk(`message ${nth}`)
    const trace = recorder.exportTrace()
    expect(trace.entries).toHaveLength(20)
    expect(trace.dropped).toBeGreaterThan(40)
    expect(trace.entries.at(-1)).toMatchObject({ kind: 'event', type: 'agentMessage' })
  })

  it('records a rejected call with its code, and a promise that is pending', async () => {
    const { agent, recorder } = await record()
    await agent.destroy()
    await expect(agent.send('late')).rejects.toMatchObject({ code: 'ABORTED' })
    const entries = recorder.exportTrace().entries
    expect(entries).toContainEqual(expect.objectContaining({ outcome: 'rejected', code: 'ABORTED' }))
  })
})

describe('[REL-79] parseTrace', () => {
  it('reads what was exported', async () => {
    const { recorder, talk } = await record()
    await talk('Hello')
    const trace = recorder.exportTrace()
    expect(parseTrace(JSON.stringify(trace))).toEqual(trace)
  })

  it('leaves out what it does not know, and has defaults for what is missing', () => {
    const entries = [
      { t: 1, kind: 'call', call: 1, name: 'connect' },
      { t: 1, kind: 'call' },
      { t: 2, kind: 'teleported' },
      { t: 3, kind: 'received', socket: 1, frame: { persona: 'agent' } },
      { kind: 'open', socket: 1 },
      null,
    ]
    expect(parseTrace(JSON.stringify({ format: 'aiagent-trace', version: 1, entries }))).toEqual({
      format: 'aiagent-trace',
      version: 1,
      library: 'unknown',
      startedAt: 0,
      endedAt: 0,
      dropped: 0,
      hasContent: false,
      capabilities: [],
      isAuthenticated: false,
      entries: [entries[0]],
    })
  })

  it.each(['', '[]', '{"format":"other"}', '{"format":"aiagent-trace","version":2}'])('refuses %j', text => {
    expect(() => parseTrace(text)).toThrow(TypeError)
  })
})
