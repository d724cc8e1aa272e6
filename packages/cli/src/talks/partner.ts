import { AiAgent, type AiAgentConfig, type Environment } from '@aiagent/client'
import { parseTrace, type Trace } from '@aiagent/client/recorder'
import { CommandFailure } from '../failure.ts'
import type { Exchange, SeenMessage } from './judge.ts'

/** Who a talk is held with: an agent, or a recording of one. */
export interface Partner {
  /** Says something, and returns what the agent answered. */
  say(text: string, limitMs: number): Promise<Exchange>
  close(): Promise<void>
}

/** Options of a conversation with an agent. */
export interface AgentPartnerOptions {
  config: AiAgentConfig
  environment?: Partial<Environment>
  /** How long an agent must be silent before its turn is over, in milliseconds. */
  settleMs: number
}

/** Opens a conversation of its own with an agent. */
export async function openAgent({ config, environment, settleMs }: AgentPartnerOptions): Promise<Partner> {
  const agent = new AiAgent({ enableLogging: false, cache: { enabled: false }, ...config }, environment)
  try {
    const { status } = await agent.initialize()
    if (status === 'choose')
      throw new CommandFailure('The agent needs the choice of a portal, which a talk cannot make.')
    await agent.connect()
  } catch (error) {
    await agent.destroy()
    throw error
  }
  return { say: (text, limitMs) => exchange(agent, text, limitMs, settleMs), close: () => leave(agent) }
}

async function leave(agent: AiAgent): Promise<void> {
  await agent.disconnect()
  await agent.destroy()
}

/** A turn is over when the agent has answered and is silent, or at the time limit. */
async function exchange(agent: AiAgent, text: string, limitMs: number, settleMs: number): Promise<Exchange> {
  const messages: SeenMessage[] = []
  const problems: string[] = []
  let firstMs: number | undefined
  let sentId = ''
  const ended = new AbortController()
  const { signal } = ended
  const start = performance.now()
  await new Promise<void>((resolve, reject) => {
    const limit = setTimeout(resolve, limitMs)
    let silence: NodeJS.Timeout | undefined
    const settle = () => {
      clearTimeout(silence)
      silence = setTimeout(() => {
        if (!agent.status.working) resolve()
      }, settleMs)
    }
    signal.addEventListener('abort', () => {
      clearTimeout(limit)
      clearTimeout(silence)
    })
    agent.on(
      'agentMessage',
      ({ payload: { message } }) => {
        firstMs ??= performance.now() - start
        const { content = '', sources = [], options = [], escalationType: escalation } = message
        messages.push({ content, sources: sources.map(addressOf), options, escalation })
        settle()
      },
      { signal },
    )
    agent.on('workingChanged', () => (messages.length > 0 ? settle() : undefined), { signal })
    agent.on(
      'errorMessage',
      ({ payload: { error } }) => {
        problems.push(`The service reports an error: ${error.message}`)
        settle()
      },
      { signal },
    )
    agent.on(
      'closed',
      ({ payload: { willReconnect, code } }) => {
        if (willReconnect) return
        problems.push(`The service closed the chat (code ${code}).`)
        resolve()
      },
      { signal },
    )
    agent.send(text).then(id => {
      sentId = id
    }, reject)
  }).finally(() => ended.abort())
  const sent = agent.delivery(sentId)?.message.content ?? text
  return { sent, messages, firstMs, problems }
}

function addressOf(source: unknown): string {
  const { url, title } = Object(source) as { url?: unknown; title?: unknown }
  return String(url ?? title ?? source)
}

/**
 * A partner that repeats a recording: it finds what the user said, and returns what followed.
 *
 * @throws {CommandFailure} when the text is not a recording with content
 */
export function openTrace(text: string): Partner {
  const trace = readTrace(text)
  let position = 0
  return {
    async say(said) {
      const at = trace.entries.findIndex(
        (entry, index) =>
          index >= position && entry.kind === 'sent' && entry.frame.role === 'human' && entry.frame.content === said,
      )
      const question = trace.entries[at]
      if (question === undefined)
        return { sent: said, messages: [], firstMs: undefined, problems: ['The recording does not hold this message.'] }
      const messages: SeenMessage[] = []
      let firstMs: number | undefined
      for (position = at + 1; position < trace.entries.length; position++) {
        const entry = trace.entries[position]
        if (entry?.kind === 'sent' && entry.frame.role === 'human') break
        if (entry?.kind !== 'received' || entry.frame.persona !== 'agent') continue
        firstMs ??= entry.t - question.t
        const { content = '', data } = entry.frame
        // A recording leaves out sources and options.
        const escalation = data?.['escalation'] === true ? 'unknown' : undefined
        messages.push({ content, sources: undefined, options: undefined, escalation })
      }
      return { sent: said, messages, firstMs, problems: [] }
    },
    close: async () => {},
  }
}

function readTrace(text: string): Trace {
  let trace: Trace
  try {
    trace = parseTrace(text)
  } catch (cause) {
    throw new CommandFailure('The recording cannot be read.', { cause })
  }
  if (trace.hasContent) return trace
  throw new CommandFailure('The recording has no texts. Record with createRecorder({ content: true }).')
}
