import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DEFAULT_WORLD, type Fault } from '@aiagent/emulator'
import { type EmulatorServer, type ServeOptions, serveEmulator } from '@aiagent/emulator/node'
import { paths, ROLE } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { type DoctorCode, type DoctorFinding, type DoctorOptions, REMEDIES, runDoctor } from '../src/doctor.ts'
import { defaultEnvironment } from '../src/platform/default-environment.ts'
import type { Page, PageWindow } from '../src/platform/page.ts'

/** A deployment that is broken in one way. */
interface Broken {
  what: string
  code: DoctorCode
  check: DoctorFinding['check']
  /** Changes of the emulator before it starts. */
  serve?: ServeOptions
  /** Breaks the running service. */
  fault?: Fault
  /** Breaks it when a check has passed. */
  after?: { check: DoctorFinding['check']; fault: Fault | ((server: EmulatorServer) => Fault) }
  options?: (server: EmulatorServer) => Partial<DoctorOptions> | Promise<Partial<DoctorOptions>>
  status?: 'warning'
}

const AGENT = paths.agentDetails('help')
const SESSION = paths.session('help')
const METADATA = paths.metadataOfDeployment()
const DEPLOYMENT = paths.deploymentInfo()

const [TENANT] = DEFAULT_WORLD.tenants
const HELP = DEFAULT_WORLD.agents[0]?.details
const withHelp = (change: object): ServeOptions => ({
  world: { agents: [{ details: { ...HELP, agentId: 'help', ...change } }] },
})
const jwt = (claims: object) =>
  ['e30', Buffer.from(JSON.stringify(claims)).toString('base64url'), 'c2ln-sentinel'].join('.')

/** Every problem of a service, with a deployment that has it. */
const BROKEN: readonly Broken[] = [
  {
    what: 'an endpoint that is not an address',
    code: 'ENDPOINT_INVALID',
    check: 'endpoint',
    options: () => ({ endpoint: 'http://[' }),
  },
  {
    what: 'an endpoint with http beyond this machine',
    code: 'ENDPOINT_UNENCRYPTED',
    check: 'endpoint',
    status: 'warning',
    options: ({ url }) => ({
      endpoint: 'http://agents.example.test',
      environment: { fetch: (input, init) => fetch(input.replace('http://agents.example.test', url), init) },
    }),
  },
  {
    what: 'an address at which nothing listens',
    code: 'DEPLOYMENT_UNREACHABLE',
    check: 'deployment',
    options: async server => {
      await server.close()
      return {}
    },
  },
  {
    what: 'a service that does not answer',
    code: 'DEPLOYMENT_TIMEOUT',
    check: 'deployment',
    fault: { kind: 'hang-request', route: DEPLOYMENT },
    options: () => ({ timeoutMs: 300 }),
  },
  {
    what: 'a server without a deployment',
    code: 'DEPLOYMENT_STATUS',
    check: 'deployment',
    fault: { kind: 'answer', route: DEPLOYMENT, status: 404, body: 'Not found' },
  },
  {
    what: 'a website in place of the deployment',
    code: 'DEPLOYMENT_UNREADABLE',
    check: 'deployment',
    fault: { kind: 'answer', route: DEPLOYMENT, status: 200, body: '<!doctype html>' },
  },
  {
    what: 'a clock that is ten minutes slow',
    code: 'CLOCK_SKEW',
    check: 'clock',
    options: () => {
      const { clock } = defaultEnvironment()
      return { environment: { clock: { ...clock, now: () => clock.now() - 600_000 } } }
    },
  },
  {
    what: 'metadata that fails',
    code: 'METADATA_FAILED',
    check: 'metadata',
    fault: { kind: 'answer', route: METADATA, status: 500 },
  },
  {
    what: 'no anonymous access',
    code: 'ANONYMOUS_DISABLED',
    check: 'metadata',
    fault: { kind: 'answer', route: METADATA, status: 200, body: { authenticationDetails: {} } },
  },
  {
    what: 'a token endpoint that refuses the client',
    code: 'TOKEN_REFUSED',
    check: 'token',
    fault: { kind: 'answer', route: '/oauth/*', status: 401, body: { error: 'invalid_client' } },
  },
  {
    what: 'tokens of one minute',
    code: 'TOKEN_SHORT_LIVED',
    check: 'token',
    serve: { settings: { tokenLifeSeconds: 60 } },
  },
  {
    what: 'an expired token of the host',
    code: 'TOKEN_EXPIRED',
    check: 'token',
    options: () => ({ token: jwt({ exp: 1_000 }) }),
  },
  {
    what: 'a token of the host that cannot be read',
    code: 'TOKEN_UNREADABLE',
    check: 'token',
    status: 'warning',
    options: () => ({ token: 'opaque-sentinel' }),
  },
  { what: 'an unknown agent', code: 'AGENT_UNKNOWN', check: 'agent', options: () => ({ agent: 'nobody' }) },
  {
    what: 'an agent that the token may not read',
    code: 'AGENT_DENIED',
    check: 'agent',
    fault: { kind: 'answer', route: AGENT, status: 403 },
  },
  {
    what: 'agent details that fail',
    code: 'AGENT_FAILED',
    check: 'agent',
    fault: { kind: 'answer', route: AGENT, status: 500 },
  },
  {
    what: 'an agent for signed-in users without a user',
    code: 'AGENT_NEEDS_LOGIN',
    check: 'agent',
    status: 'warning',
    options: () => ({ agent: 'account' }),
  },
  {
    what: 'a token without the scopes of the agent',
    code: 'SCOPES_MISSING',
    check: 'scopes',
    status: 'warning',
    options: ({ emulator }) => ({ token: emulator.control.issueToken({ scopes: ['core.other.read'] }) }),
  },
  {
    what: 'a session that is denied',
    code: 'SESSION_DENIED',
    check: 'session',
    fault: { kind: 'answer', route: SESSION, status: 401 },
  },
  {
    what: 'a session that fails',
    code: 'SESSION_FAILED',
    check: 'session',
    fault: { kind: 'answer', route: SESSION, status: 500 },
  },
  {
    what: 'a gateway that refuses POST for the session',
    code: 'SESSION_WITHOUT_CONTEXT',
    check: 'session',
    status: 'warning',
    serve: { settings: { postSession: false } },
  },
  {
    what: 'a deployment without a chat address',
    code: 'CHAT_ADDRESS_MISSING',
    check: 'chat',
    serve: {
      world: {
        agents: [{ details: { ...HELP, agentId: 'help', webSocketDomain: '' } }],
        tenants: [{ ...TENANT, id: 'T1', identifier: 'a', permissionPrefix: 'api://a/', aiAgentDomain: '' }],
      },
    },
  },
  {
    what: 'a chat host at which nothing listens',
    code: 'CHAT_UNREACHABLE',
    check: 'chat',
    serve: withHelp({ webSocketDomain: 'ws://127.0.0.1:1' }),
  },
  {
    what: 'a proxy that refuses the upgrade',
    code: 'CHAT_REFUSED',
    check: 'chat',
    fault: { kind: 'refuse-upgrade', status: 502 },
  },
  {
    what: 'a proxy that holds the upgrade',
    code: 'CHAT_TIMEOUT',
    check: 'chat',
    fault: { kind: 'hang-upgrade' },
    options: () => ({ timeoutMs: 3_000 }),
  },
  {
    what: 'a service that closes the chat at once',
    code: 'CHAT_CLOSED',
    check: 'chat',
    serve: { settings: { unknownSession: 'close-4404' } },
    after: {
      check: 'session',
      fault: ({ emulator }) => ({ kind: 'forget-session', sessionId: [...emulator.world.sessions.keys()][0] ?? '' }),
    },
  },
  {
    what: 'a service that closes the chat before it answers',
    code: 'CHAT_CLOSED',
    check: 'answer',
    options: () => ({ ask: 'Hello' }),
    after: { check: 'chat', fault: { kind: 'drop', code: 4500 } },
  },
  {
    what: 'a proxy that buffers frames',
    code: 'CHAT_SILENT',
    check: 'answer',
    options: () => ({ ask: 'Hello', timeoutMs: 3_000 }),
    fault: { kind: 'lose-frames', direction: 'to-client' },
  },
  {
    what: 'a service that refuses messages',
    code: 'CHAT_ERROR',
    check: 'answer',
    options: () => ({ ask: 'Hello' }),
    fault: { kind: 'rate-limit', only: 'messages' },
  },
  {
    what: 'a proxy that cuts idle connections',
    code: 'CHAT_IDLE_CUT',
    check: 'idle',
    options: () => ({ idleSeconds: 5 }),
    after: { check: 'answer', fault: { kind: 'drop' } },
  },
  {
    what: 'a firewall that drops frames after silence',
    code: 'CHAT_IDLE_DEAD',
    check: 'idle',
    serve: { settings: { capabilities: ['receipts'] } },
    options: () => ({ idleSeconds: 0.02, timeoutMs: 3_000 }),
    after: { check: 'answer', fault: { kind: 'silence' } },
  },
]

/** Proven in a page: `test/browser/doctor.test.ts`. */
const IN_A_PAGE = [
  'POPUP_BLOCKED',
  'POPUP_OPENER_CUT',
  'CORS_BLOCKED',
  'CSP_BLOCKED',
  'PAGE_INSECURE',
  'STORAGE_BLOCKED',
]

const findingOf = ({ findings }: { findings: readonly DoctorFinding[] }, check: DoctorFinding['check']) =>
  findings.find(finding => finding.check === check)

describe('runDoctor() of a sound deployment', () => {
  it('[ADOPT-01] finds nothing, and leaves no session open', async () => {
    await using server = await serveEmulator({ settings: { capabilities: ['receipts', 'resume'] } })
    const report = await runDoctor({ endpoint: server.url, ask: 'How do I reset my router?', idleSeconds: 0.02 })
    expect(report.findings.filter(({ status }) => status === 'failed' || status === 'warning')).toEqual([])
    expect(report).toMatchObject({ version: 1, status: 'passed', agent: 'help', endpoint: server.url })
    expect(report.findings.filter(({ status }) => status === 'skipped').map(({ check }) => check)).toEqual([
      'storage',
      'login',
      'cors',
      'policy',
    ])
    const [sessionId = ''] = server.emulator.world.sessions.keys()
    const last = () => server.emulator.control.frames(sessionId).at(-1)?.message?.role
    await eventually(() => last() === ROLE.GRACEFUL_DISCONNECT)
  })

  it('[ADOPT-01] examines an agent for signed-in users with the token of a user', async () => {
    await using server = await serveEmulator()
    const token = server.emulator.control.issueToken({ subject: 'customer' })
    const report = await runDoctor({ endpoint: server.url, agent: 'account', token, ask: 'Hello' })
    expect(report.findings.filter(({ status }) => status === 'failed')).toEqual([])
    expect(findingOf(report, 'answer')?.status).toBe('passed')
  })

  it('[ADOPT-01] rejects when it is aborted, and leaves the chat', async () => {
    await using server = await serveEmulator()
    const ending = new AbortController()
    const running = runDoctor({
      endpoint: server.url,
      idleSeconds: 60,
      signal: ending.signal,
      onFinding: ({ check }) => {
        if (check === 'answer') ending.abort(new Error('Enough.'))
      },
    })
    await expect(running).rejects.toThrow('Enough.')
  })
})

describe('runDoctor() of broken deployments', () => {
  it.concurrent.for(BROKEN)('[ADOPT-02] names $what: $code', async (broken, { expect }) => {
    const { fault, after, options, code, check, status = 'failed' } = broken
    await using server = await serveEmulator(broken.serve)
    if (fault) server.emulator.faults.add(fault)
    const report = await runDoctor({
      endpoint: server.url,
      onFinding: finding => {
        if (finding.check !== after?.check) return
        server.emulator.faults.add(typeof after.fault === 'function' ? after.fault(server) : after.fault)
      },
      ...(await options?.(server)),
    })
    expect(findingOf(report, check)).toMatchObject({ status, code, remedy: REMEDIES[code] })
    expect(report.status).toBe(status === 'failed' ? 'failed' : report.status)
    expect(report.findings.map(({ text }) => text.trim()).filter(text => !/\.\)?$|…$/.test(text))).toEqual([])
    expect(JSON.stringify(report)).not.toContain('sentinel')
  })

  it('[ADOPT-02] has a broken deployment for every problem', () => {
    const tested = new Set([...BROKEN.map(({ code }) => code), ...IN_A_PAGE])
    expect([...tested].sort()).toEqual(Object.keys(REMEDIES).sort())
    expect(BROKEN.length).toBeGreaterThanOrEqual(15)
  })
})

describe('secrets in a report of runDoctor()', () => {
  it('[ADOPT-03] are left out, also where the service repeats them in its errors', async () => {
    const server = createServer((request, response) => {
      const { authorization = '' } = request.headers
      const token = authorization.replace('Bearer ', '')
      if (request.url === DEPLOYMENT) {
        const { port } = server.address() as AddressInfo
        return response.end(JSON.stringify({ apiDomain: `http://127.0.0.1:${port}`, tenantId: 'T' }))
      }
      response.statusCode = 403
      response.end(JSON.stringify({ message: `The token ${token} and ${token.split('.')[1]} are refused` }))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = server.address() as AddressInfo
      const token = `opaque-canary-${'7'.repeat(20)}`
      const report = await runDoctor({ endpoint: `http://127.0.0.1:${port}`, token })
      expect(findingOf(report, 'agent')?.code).toBe('AGENT_DENIED')
      expect(JSON.stringify(report)).not.toContain('canary')
    } finally {
      server.close()
    }
  })
})

describe('an endpoint with a password', () => {
  it('[ADOPT-03] is refused by runDoctor(), which does not repeat it', async () => {
    const report = await runDoctor({ endpoint: 'https://user:canary-word@agents.example.test' })
    expect(findingOf(report, 'endpoint')?.code).toBe('ENDPOINT_INVALID')
    expect(JSON.stringify(report)).not.toContain('canary')
  })
})

describe('runDoctor() in a page without a browser', () => {
  const pageWith = (window: object): Page => ({
    window: {
      document: undefined,
      location: { href: 'https://host.test/', origin: 'https://host.test' },
      ...window,
    } as unknown as PageWindow,
    isHidden: () => false,
    nextTask: callback => callback(),
    onReturn: () => () => {},
    addScript: () => {
      throw new Error('No script is expected.')
    },
  })

  it('[ADOPT-02] names blocked stores and an insecure page', async () => {
    await using server = await serveEmulator()
    const throwing = {
      length: 0,
      key: () => null,
      getItem: () => null,
      removeItem: () => {},
      setItem: () => {
        throw new DOMException('Full', 'QuotaExceededError')
      },
    }
    const environment = {
      page: pageWith({ isSecureContext: false }),
      sessionStorage: throwing,
      localStorage: undefined,
    }
    const report = await runDoctor({ endpoint: server.url, environment })
    expect(findingOf(report, 'storage')).toMatchObject({ code: 'STORAGE_BLOCKED', status: 'warning' })
    expect(findingOf(report, 'storage')?.text).toContain('sessionStorage and localStorage')
    expect(findingOf(report, 'login')).toMatchObject({ code: 'PAGE_INSECURE', status: 'warning' })
  })
})
