import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { lastSession, setUp } from '../../test/agent-harness.ts'
import { RecordingMeter, RecordingTracer } from '../../test/recording-tracer.ts'
import { outline, runScenario, TELEMETRY_SCENARIOS, type TelemetryScenario } from '../../test/telemetry-scenarios.ts'
import { instrument } from './instrument.ts'
import type { Attributes } from './telemetry-types.ts'

const ANSWER = { persona: 'agent', role: 'customer support agent', content: 'Good day.' } as const
const HAPPY = TELEMETRY_SCENARIOS[0] as TelemetryScenario

describe('the spans of an agent', () => {
  it.each(TELEMETRY_SCENARIOS)('[ADOPT-08] of $name are those of the golden trace', async scenario => {
    const tracer = new RecordingTracer()
    await runScenario(scenario, { tracer })
    expect(outline(tracer.spans)).toEqual(scenario.golden)
    expect(tracer.unfinished).toBe(0)
  })

  it('[ADOPT-08] of a turn have the attributes of the conventions', async () => {
    const tracer = new RecordingTracer()
    await runScenario(HAPPY, { tracer })
    const turn = tracer.spans.find(({ name }) => name.startsWith('invoke_agent'))
    expect(turn?.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'aiagent',
      'gen_ai.agent.id': 'help',
      'gen_ai.agent.name': 'Help Centre',
      'gen_ai.agent.version': '21.23.0',
      'gen_ai.conversation.id': expect.stringMatching(/^[\da-f]{16}$/),
      'gen_ai.output.type': 'text',
      'gen_ai.response.id': expect.any(String),
      'server.address': 'emulator.test',
      'server.port': 80,
      'aiagent.library.version': expect.any(String),
    })
  })

  it('[ADOPT-08] count turns, reconnects and the queue, and report a rating as an evaluation of its turn', async () => {
    const tracer = new RecordingTracer()
    const meter = new RecordingMeter()
    const events: { eventName: string; attributes: Attributes; parent: unknown }[] = []
    const logger = {
      emit: ({ eventName, attributes, context }: { eventName: string; attributes: Attributes; context?: unknown }) =>
        void events.push({ eventName, attributes, parent: tracer.spanOf(context)?.name }),
    }
    await runScenario(HAPPY, { tracer, meter, logger })
    const lost = TELEMETRY_SCENARIOS.find(({ name }) => name === 'a lost connection') as TelemetryScenario
    await runScenario(lost, { tracer, meter })
    expect(meter.counts('gen_ai.client.operation.duration')).toBe(3)
    expect(meter.counts('aiagent.time_to_first_response')).toBe(3)
    expect(meter.sum('aiagent.reconnects')).toBe(1)
    expect(meter.sum('aiagent.queue.length')).toBe(0)
    expect(events).toMatchObject([
      {
        eventName: 'gen_ai.evaluation.result',
        parent: 'invoke_agent Help Centre',
        attributes: { 'gen_ai.evaluation.name': 'user_feedback', 'gen_ai.evaluation.score.value': 1 },
      },
    ])
  })
})

describe('the metrics of an agent', () => {
  it('[ADOPT-08] have a description, a unit, and the buckets of the conventions', async () => {
    const meter = new RecordingMeter()
    await runScenario(HAPPY, { tracer: new RecordingTracer(), meter })
    const described = { description: expect.stringMatching(/^[A-Z].*\.$/) }
    const seconds = {
      ...described,
      unit: 's',
      advice: {
        explicitBucketBoundaries: [
          0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
        ],
      },
    }
    expect(meter.options).toEqual({
      'gen_ai.client.operation.duration': seconds,
      'aiagent.time_to_first_response': seconds,
      'aiagent.queue.length': { ...described, unit: '{message}' },
      'aiagent.reconnects': { ...described, unit: '{attempt}' },
    })
  })

  it('[ADOPT-08] follow the queue, and leave it at 0 when the agent ends', async () => {
    const scenario = (name: string) => TELEMETRY_SCENARIOS.find(each => each.name === name) as TelemetryScenario
    const meter = new RecordingMeter()
    const tracer = new RecordingTracer()
    await runScenario(scenario('a question before the chat is open'), { tracer, meter })
    const sums = () => meter.sums('aiagent.queue.length')
    expect([Math.max(...sums()), sums().at(-1)]).toEqual([1, 0])
    const waiting: TelemetryScenario = {
      ...HAPPY,
      async run({ agent }) {
        await agent.initialize()
        await agent.send('one')
        await agent.send('two')
      },
    }
    await runScenario(waiting, { tracer, meter })
    expect([Math.max(...sums()), sums().at(-1)]).toEqual([2, 0])
  })
})

describe('what spans must not hold', () => {
  it.each(TELEMETRY_SCENARIOS)('[ADOPT-09] $name: no session id, no token, no text', async scenario => {
    const tracer = new RecordingTracer()
    const secrets: string[] = []
    await runScenario(
      {
        ...scenario,
        async run(stage) {
          await scenario.run(stage)
          secrets.push(lastSession(stage.emulator), (await stage.agent.getAccessToken()) ?? '')
        },
      },
      { tracer },
    )
    const everything = JSON.stringify(tracer.spans)
    for (const secret of secrets.filter(Boolean)) expect(everything).not.toContain(secret)
    expect(everything).not.toMatch(/Hello|You said|human, please/)
  })

  it('[SEC-90] holds codes of the service, and no free text of it', async () => {
    const tracer = new RecordingTracer()
    const meter = new RecordingMeter()
    const { make, emulator } = setUp({ settings: { replyDelayMs: 60_000 } })
    const { agent, told } = make({})
    instrument(agent, { tracer, meter })
    await agent.initialize()
    await agent.connect()
    const session = lastSession(emulator)
    const codes = [
      '401-013',
      `PRIVATE 4111 1111 1111 1111 ${session}`,
      '401-013 PRIVATE',
      '401-013\n',
      '',
      401,
      null,
      {},
    ]
    for (const [index, error_code] of codes.entries()) {
      await agent.send(`question ${index}`)
      const messageData = { error_code } as never
      emulator.control.pushFrame(session, { persona: 'metadata', role: 'error', messageData })
      await eventually(() => told.filter(({ name }) => name === 'errorMessage').length > index)
    }
    // Any service chooses the ids of its messages.
    for (const messageId of ['PRIVATE words', `PRIVATE:${session}`, `PRIVATE${'x'.repeat(500)}`, 'm-1']) {
      const before = told.filter(({ name }) => name === 'agentMessage').length
      await agent.send('question')
      emulator.control.pushFrame(session, { ...ANSWER, messageId })
      await eventually(() => told.filter(({ name }) => name === 'agentMessage').length > before)
    }
    await agent.destroy()
    const turns = tracer.spans.filter(({ name }) => name.startsWith('invoke_agent'))
    const types = turns.map(({ attributes }) => attributes['error.type'])
    expect(types).toEqual(['401-013', ...Array(7).fill('error'), ...Array(4).fill(undefined)])
    expect(turns.slice(8).map(({ attributes }) => attributes['gen_ai.response.id'])).toEqual([
      undefined,
      undefined,
      undefined,
      'm-1',
    ])
    const labels = meter.labels('gen_ai.client.operation.duration').map(each => each['error.type'])
    expect(labels).toEqual(types)
    expect(JSON.stringify(tracer.spans)).not.toMatch(/PRIVATE|4111/)
  })

  it('[ADOPT-09] texts are added where the host asks for them', async () => {
    const tracer = new RecordingTracer()
    await runScenario({ ...HAPPY, options: { content: true } }, { tracer })
    const turn = tracer.spans.find(({ name }) => name.startsWith('invoke_agent'))
    expect(turn?.attributes['gen_ai.input.messages']).toContain('Hello')
    expect(turn?.attributes['gen_ai.output.messages']).toContain('You said: Hello')
  })

  it('[ADOPT-09] and masked, those of the agent too', async () => {
    const card = '4111 1111 1111 1111'
    const tracer = new RecordingTracer()
    const { make } = setUp({ reply: ({ text }) => ({ content: `You said: ${text}. Ours is ${card}.` }) })
    const { agent, told } = make({ id: 'billing' })
    instrument(agent, { tracer, content: true })
    await agent.initialize()
    await agent.connect()
    await agent.send(`My card is ${card}`)
    await eventually(() => told.some(({ name }) => name === 'agentMessage'))
    await agent.destroy()
    const turn = tracer.spans.find(({ name }) => name.startsWith('invoke_agent'))
    expect(turn?.attributes['gen_ai.input.messages']).toContain('My card is')
    expect(turn?.attributes['gen_ai.output.messages']).toContain('Ours is')
    expect(JSON.stringify(tracer.spans)).not.toContain(card)
  })
})
