import { AiAgent } from '@aiagent/client'
import { instrument, traceCalls } from '@aiagent/client/otel'
import { createRecorder, type TraceRecorder } from '@aiagent/client/recorder'
import {
  type AuditedHost,
  type AuditOptions,
  type AuditPlan,
  assertNoLeaks,
  auditPrivacy,
  formatReport,
  type Leak,
} from '@aiagent/testing'
import { describe, expect, it, vi } from 'vitest'

/** A host under audit, and what it was made from. */
interface Host extends AuditPlan {
  readonly agent: AiAgent
  readonly recorder: TraceRecorder
}

/** A host with everything that the client offers: recorder, telemetry, resume. */
function createHost(plan: AuditPlan): Host {
  const { config, environment, telemetry } = plan
  const calls = traceCalls({ tracer: telemetry.tracer, fetch: environment.fetch })
  const recorder = createRecorder()
  const agent = new AiAgent({ ...config, resume: true, recorder }, { ...environment, fetch: calls.fetch })
  instrument(agent, { ...telemetry, calls })
  return { ...plan, agent, recorder }
}

const audit = (more: (host: Host) => Partial<AuditedHost> = () => ({}), options?: AuditOptions) =>
  auditPrivacy(plan => {
    const host = createHost(plan)
    return { agent: host.agent, recorder: host.recorder, ...more(host) }
  }, options)

/** What a leak is named by. */
const nameOf = ({ kind, place, sink, where }: Leak) => `${kind} of ${place} in ${sink}, ${where}`

/** Twelve mistakes of a host, each with what the audit has to find. */
const MISTAKES: readonly (readonly [expected: string, mistake: (host: Host) => Partial<AuditedHost>])[] = [
  [
    'card of message in frame, customer/note',
    ({ agent }) => ({
      send: text =>
        agent.send({ persona: 'customer', role: 'note', messageData: { text } }).then(() => agent.send(text)),
    }),
  ],
  [
    'session of message in request body, elsewhere POST /drafts',
    ({ agent }) => ({
      send: async text => {
        await fetch('https://shop.example/drafts', { method: 'POST', body: JSON.stringify({ text }) })
        return agent.send(text)
      },
    }),
  ],
  [
    'token of token in request header, elsewhere GET /profile authorization',
    ({ agent }) => {
      agent.on('connected', async () => {
        const headers = { Authorization: `Bearer ${await agent.getAccessToken()}` }
        await fetch('https://shop.example/profile', { headers })
      })
      return {}
    },
  ],
  [
    'address of message in URL, elsewhere GET /suggest',
    ({ agent }) => ({
      send: async text => {
        await fetch(`https://shop.example/suggest?for=${encodeURIComponent(text)}`)
        return agent.send(text)
      },
    }),
  ],
  [
    'card of message in local storage, draft',
    ({ agent, environment }) => ({
      send: text => {
        environment.localStorage.setItem('draft', text)
        environment.localStorage.removeItem('draft')
        return agent.send(text)
      },
    }),
  ],
  [
    'token of token in session storage, user',
    ({ agent, environment }) => {
      agent.on('connected', async () => environment.sessionStorage.setItem('user', `${await agent.getAccessToken()}`))
      return {}
    },
  ],
  [
    'session of session in console, info',
    ({ agent }) => {
      agent.on('connected', ({ sessionId }) => console.info('The chat is open.', { sessionId }))
      return {}
    },
  ],
  [
    'address of context in log, entry',
    ({ agent }) => {
      agent.on('connected', () => agent.logger.info('The chat is open.', { context: agent.getContext() }))
      return {}
    },
  ],
  [
    'address of answer in trace, exportTrace()',
    ({ agent, recorder }) => {
      const answers: string[] = []
      agent.on('agentMessage', ({ payload }) => void answers.push(payload.message.content ?? ''))
      return { recorder: { exportTrace: () => ({ ...recorder.exportTrace(), answers }) } }
    },
  ],
  [
    'address of token in span, host.login',
    ({ agent, telemetry }) => {
      agent.on('initialized', () => {
        telemetry.tracer.startSpan('host.login', { attributes: { user: String(agent.getUserDetails()?.['email']) } })
      })
      return {}
    },
  ],
  [
    'card of message in export, exportConversation()',
    ({ agent }) => {
      const texts: string[] = []
      return {
        send: text => {
          texts.push(text.replace(/\d{4}(?=\d)/g, '$& '))
          return agent.send(text)
        },
        exportConversation: () => texts,
      }
    },
  ],
  [
    'token of context in store after sign-out, backup',
    ({ agent, environment }) => {
      agent.on('connected', () => environment.localStorage.setItem('backup', btoa(JSON.stringify(agent.getContext()))))
      return {}
    },
  ],
]

describe('the audit of an agent', () => {
  it('[SEC-36] finds nothing in the client with recorder, telemetry and resume, and has scanned every sink', async () => {
    const report = await audit()
    assertNoLeaks(report)
    expect(Object.keys(report.scanned).sort()).toEqual([
      'URL',
      'console',
      'error',
      'export',
      'frame',
      'log',
      'metric',
      'request body',
      'request header',
      'session storage',
      'span',
      'store after sign-out',
      'trace',
    ])
  })

  it.each(MISTAKES)('[SEC-36] finds the planted leak: %s', async (expected, mistake) => {
    const print = vi.spyOn(console, 'info').mockImplementation(() => {})
    const report = await audit(mistake).finally(() => print.mockRestore())
    expect(report.leaks.map(nameOf)).toContain(expected)
    expect(() => assertNoLeaks(report)).toThrow(expected.split(', ').at(-1) ?? '')
    expect(formatReport(report)).toContain(`${report.leaks.length} leaks.`)
  })

  it('scans further places of a host, and leaves out what the host allows', async () => {
    const noted: string[] = []
    const note = ({ agent }: Host): Partial<AuditedHost> => ({
      send: text => {
        noted.push(text)
        return agent.send(text)
      },
      sinks: { 'audit log': () => noted },
    })
    const kinds = (leaks: readonly Leak[]) => leaks.filter(({ sink }) => sink === 'audit log').map(({ kind }) => kind)
    expect(kinds((await audit(note)).leaks)).toEqual(['card', 'token', 'address', 'session'])
    const allow = [{ kind: 'address', sink: 'audit log', because: 'the log is for the billing department' }] as const
    expect(kinds((await audit(note, { allow })).leaks)).toEqual(['card', 'token', 'session'])
  })

  it('reports unmasked messages where the rules of a department miss them', async () => {
    const report = await audit(undefined, { maskingPatterns: [] })
    const frames = report.leaks.filter(({ sink }) => sink === 'frame')
    expect(frames.map(({ kind, where }) => `${kind} in ${where}`).sort()).toEqual([
      'address in customer/human',
      'card in customer/human',
      'session in customer/human',
      'token in customer/human',
    ])
  })

  it('is incomplete when the host does not talk', async () => {
    const report = await audit(() => ({ send: () => undefined }), { timeoutMs: 300 })
    expect(report.leaks).toEqual([])
    expect(() => assertNoLeaks(report)).toThrow('incomplete: asking')
  })
})
