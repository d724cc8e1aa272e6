import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { createFeedbackMessage } from '../src/conversation/message-helpers.ts'
import {
  type InstrumentOptions,
  instrument,
  type TelemetryLogger,
  type TelemetryMeter,
  type TelemetryTracer,
  traceCalls,
} from '../src/otel.ts'
import { setUp } from './agent-harness.ts'

/** A span as the goldens show it, whatever made it. */
export interface SeenSpan {
  readonly id: string
  readonly parent: string | undefined
  readonly name: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly { name: string; attributes?: Readonly<Record<string, unknown>> | undefined }[]
  readonly links: number
  readonly hasFailed: boolean
  /** Order of the start. */
  readonly startedAt: number
}

/** What an instrumented conversation works with. */
export interface TelemetryTools {
  tracer: TelemetryTracer
  meter?: TelemetryMeter
  logger?: TelemetryLogger
}

type Stage = ReturnType<typeof openStage>

/** A conversation, and the spans that it makes. */
export interface TelemetryScenario {
  readonly name: string
  readonly options?: Partial<InstrumentOptions>
  run(stage: Stage): Promise<void>
  readonly golden: readonly string[]
}

function openStage(tools: TelemetryTools, options: Partial<InstrumentOptions>) {
  const reply = ({ text }: { text: string }) =>
    text === 'A human, please'
      ? {
          content: 'I hand you over.',
          messageData: { escalation: true, escalationData: { live: true, liveDomain: 'live.example.test' } },
        }
      : { content: `You said: ${text}` }
  const all = setUp({ reply })
  const calls = traceCalls({ tracer: tools.tracer, fetch: all.emulator.fetch })
  const { agent, told } = all.make({ enableLogging: false, cache: { enabled: false } }, { fetch: calls.fetch })
  instrument(agent, { ...tools, calls, ...options })
  const answers = () => told.filter(({ name }) => name === 'agentMessage').length
  const open = async () => {
    await agent.initialize()
    await agent.connect()
  }
  const ask = async (text: string) => {
    const before = answers()
    await agent.send(text)
    await eventually(() => answers() > before)
  }
  return { ...all, agent, told, open, ask }
}

/** Runs a scenario, and ends the agent. */
export async function runScenario(scenario: TelemetryScenario, tools: TelemetryTools): Promise<void> {
  const stage = openStage(tools, scenario.options ?? {})
  await scenario.run(stage)
  await stage.agent.destroy()
  // The last turn ends a microtask later.
  await Promise.resolve()
}

const REST = [
  '  GET /system/deploymentInfo 200',
  '  GET /core/authmgr/v3/metadata/deployment 200',
  '  POST token 200',
  '  GET /core/aiservices/v4/aiagent/details/agent/{agentId} 200',
  '  POST token 200',
  '  POST /core/aiservices/v4/aiagent/chat/agent/{agentId}/session 200',
]
const INITIALIZE = ['aiagent.initialize ready', ...REST]
const CONNECT = 'aiagent.connect 1'
const TURN = 'invoke_agent Help Centre | aiagent.sent'

/** One conversation for each thing that can happen to a turn, an attempt or a run of `initialize()`. */
export const TELEMETRY_SCENARIOS: readonly TelemetryScenario[] = [
  {
    name: 'a question with an answer, which is rated',
    async run({ agent, told, open, ask }) {
      await open()
      await ask('Hello')
      const answer = told.findLast(({ name }) => name === 'agentMessage')?.event
      const { messageId = '' } = (answer?.payload ?? {}) as { messageId?: string }
      await agent.send(createFeedbackMessage({ rating: 'up', answerMessageId: messageId }))
    },
    golden: [...INITIALIZE, CONNECT, TURN],
  },
  {
    name: 'a question before the chat is open',
    async run({ agent, told, open }) {
      await agent.send('Hello')
      await open()
      await eventually(() => told.some(({ name }) => name === 'agentMessage'))
    },
    golden: [...INITIALIZE, 'invoke_agent Help Centre | aiagent.queued, aiagent.sent', CONNECT],
  },
  {
    name: 'a hand-over to a human',
    async run({ open, ask }) {
      await open()
      await ask('A human, please')
    },
    golden: [...INITIALIZE, CONNECT, `${TURN}, aiagent.escalation live`],
  },
  {
    name: 'a lost connection',
    async run({ agent, clock, emulator, open, ask }) {
      await open()
      await ask('Hello')
      emulator.control.dropSockets(1012)
      await eventually(() => agent.getState() === 'RECONNECTING')
      await clock.advance(2_000)
      await eventually(() => agent.isConnected())
      await ask('Hello again')
    },
    golden: [
      ...INITIALIZE,
      CONNECT,
      TURN,
      'aiagent.connection_lost 1012 service_restart ! service_restart',
      'aiagent.connect 1 <- 1',
      TURN,
    ],
  },
  {
    name: 'a service that refuses messages',
    async run({ agent, emulator, told, open }) {
      await open()
      emulator.faults.add({ kind: 'rate-limit', only: 'messages' })
      await agent.send('Hello')
      await eventually(() => told.some(({ name }) => name === 'errorMessage'))
    },
    golden: [...INITIALIZE, CONNECT, `${TURN} ! 429-001`],
  },
  {
    name: 'an agent whose details fail',
    async run({ agent, emulator }) {
      emulator.faults.add({ kind: 'answer', route: paths.agentDetails('help'), status: 500 })
      await agent.initialize().catch(() => {})
    },
    golden: [
      'aiagent.initialize ! status',
      ...REST.slice(0, 3),
      '  GET /core/aiservices/v4/aiagent/details/agent/{agentId} 500 ! 500',
    ],
  },
  {
    name: 'an agent that is destroyed while a question is open',
    async run({ agent, emulator, open }) {
      await open()
      emulator.settings.replyDelayMs = 60_000
      await agent.send('Hello')
    },
    golden: [...INITIALIZE, CONNECT, `${TURN} ! destroyed`],
  },
]

/** Spans as lines: a span below its parent, with what tells it apart, its events, and its failure. */
export function outline(spans: readonly SeenSpan[]): string[] {
  const inOrder = [...spans].sort((a, b) => a.startedAt - b.startedAt)
  const linesOf = (parent: string | undefined, indent: string): string[] =>
    inOrder
      .filter(span => span.parent === parent)
      .flatMap(span => [indent + lineOf(span), ...linesOf(span.id, `${indent}  `)])
  return linesOf(undefined, '')
}

const SHOWN = [
  'aiagent.phase',
  'aiagent.connect.attempt',
  'aiagent.close.code',
  'aiagent.close.cause',
  'http.response.status_code',
  'http.request.resend_count',
]

function lineOf({ name, attributes, events, links, hasFailed }: SeenSpan): string {
  const shown = SHOWN.flatMap(key => (attributes[key] === undefined ? [] : [String(attributes[key])]))
  const told = events.map(event => [event.name, ...Object.values(event.attributes ?? {})].join(' '))
  return [
    [name, ...shown].join(' '),
    ...(links > 0 ? [`<- ${links}`] : []),
    ...(told.length > 0 ? [`| ${told.join(', ')}`] : []),
    ...(hasFailed ? [`! ${String(attributes['error.type'])}`] : []),
  ].join(' ')
}
