import { paths, ROLE } from '@aiagent/protocol'
import type { Bench } from '../src/conform/bench.ts'
import type { Broken, Frame } from './broken-service.ts'

const isUser = ({ role }: Frame) => role === ROLE.HUMAN
/** Nothing is heard of the user once a frame has arrived. */
const deafAfter = (fits: (frame: Frame) => boolean) => () => {
  let isDeaf = false
  return (frame: Frame) => {
    if (!isDeaf || !isUser(frame)) frame.pass()
    isDeaf ||= fits(frame)
  }
}
const closeAfter = (fits: (frame: Frame) => boolean, code: number) => () => (frame: Frame) => {
  frame.pass()
  if (fits(frame)) frame.emulator.faults.add({ kind: 'drop', code })
}
const isUnknown = ({ role }: Frame) => role === 'conform'
const isContext = ({ role }: Frame) => role === ROLE.CONTEXT
const isLong = ({ content }: Frame) => content.length > 60_000
const SOON = { timeoutMs: 2_000 }
const DETAILS = paths.agentDetails('help')
const UNKNOWN_DETAILS = paths.agentDetails('conform-unknown-00000000')
const TRANSCRIPT = '*/conversations/*'
const blank = { reply: () => ({ content: ' ' }) }
const silent = { reply: () => [] }

/** Replaces a method of each agent that the bench creates. */
const replaceMethod =
  (name: 'isConnected' | 'getTranscript' | 'getQueueSize', result: unknown) =>
  (bench: Bench): void => {
    const create = bench.agent.bind(bench)
    bench.agent = config => Object.defineProperty(create(config), name, { value: () => result })
  }
/** Changes the record of the requests once the chat is open. */
const changeRequests =
  (change: (requests: Bench['requests']) => void) =>
  (bench: Bench): void => {
    const open = bench.open.bind(bench)
    bench.open = async agent => {
      await open(agent)
      change(bench.requests)
    }
  }

/** For each claim of each scenario a service that violates it. */
export const BROKEN: readonly Broken[] = [
  {
    scenario: 'the deployment describes itself',
    what: 'has no client for customers',
    answer: (path, { extClientId, ...rest }) => (path === paths.deploymentInfo() ? rest : { extClientId, ...rest }),
    says: /lacks extClientId\./,
  },
  {
    scenario: 'an anonymous token',
    what: 'rejects the token that it issued',
    fault: { kind: 'answer', route: DETAILS, status: 401 },
    says: /rejects its own token/,
  },
  {
    scenario: 'the agent describes itself',
    what: 'describes another agent',
    answer: (path, body) => (path === DETAILS ? { ...body, agentId: 'other' } : body),
    says: /The details are those of other\./,
  },
  {
    scenario: 'an unknown agent is an error',
    what: 'knows every agent',
    fault: { kind: 'answer', route: UNKNOWN_DETAILS, status: 200, body: { agentId: 'any' } },
    says: /knows every agent/,
  },
  {
    scenario: 'an unknown agent is an error',
    what: 'shows a website for an unknown agent',
    fault: { kind: 'answer', route: UNKNOWN_DETAILS, status: 200, body: '<!doctype html>' },
    says: /no HTTP status/,
  },
  {
    scenario: 'an unknown agent is an error',
    what: 'fails for an unknown agent',
    fault: { kind: 'answer', route: UNKNOWN_DETAILS, status: 500 },
    says: /server error/,
  },
  ...['POST creates a session', 'a session knows the context'].flatMap((scenario): Broken[] => [
    {
      scenario,
      what: 'creates sessions with GET alone',
      service: { settings: { postSession: false } },
      says: /refuses POST for a session \(HTTP status 405\)/,
    },
    ...[403, 404, 405].map(
      (status): Broken => ({
        scenario,
        what: `answers each POST of a session with ${status}`,
        fault: { kind: 'answer', route: 'POST */session', status },
        says: new RegExp(`refuses POST for a session \\(HTTP status ${status}\\)`),
      }),
    ),
  ]),
  {
    scenario: 'POST creates a session',
    what: 'gives each session the same id',
    fault: { kind: 'answer', route: 'POST */session', status: 200, body: { sessionId: 'same' } },
    says: /Two sessions have the same id/,
  },
  {
    scenario: 'a session knows the context',
    what: 'ignores the context of a POST',
    request: (path, init) => (path.endsWith('/session') ? { ...init, body: '{}' } : init),
    options: SOON,
    says: /Not within .* the context in the POST is reported/,
  },
  {
    scenario: 'a rejected token at the session',
    what: 'accepts every token',
    fault: { kind: 'answer', route: '*/session', status: 200, body: { sessionId: 's' } },
    says: /accepts an invalid token/,
  },
  {
    scenario: 'a rejected token at the session',
    what: 'answers an invalid token with 403',
    fault: { kind: 'answer', route: '*/session', status: 403 },
    says: /The status is not 401/,
  },
  {
    scenario: 'the transcript of a session',
    what: 'has an empty transcript',
    fault: { kind: 'answer', route: TRANSCRIPT, status: 200, body: { messages: [] } },
    says: /The transcript lacks the question/,
  },
  {
    scenario: 'initialize() needs',
    what: 'needs no session',
    library: changeRequests(requests => requests.splice(0, requests.length - 1)),
    says: /One of the three requests was not sent/,
  },
  {
    scenario: 'initialize() needs',
    what: 'is asked for all at once',
    library: changeRequests(requests => requests.forEach(request => void Object.assign(request, { sentAt: 1 }))),
    says: /before the previous one was answered/,
  },
  {
    scenario: 'an agent without login',
    what: 'is asked for the user',
    library: changeRequests(requests => requests.push({ method: 'GET', path: paths.userDetails(), sentAt: 99 })),
    says: /Details of a user were requested/,
  },
  {
    scenario: 'deployment and details',
    what: 'has a path as its API domain',
    answer: (path, body) => (path === paths.deploymentInfo() ? { ...body, apiDomain: 'emulator.test/api' } : body),
    says: /neither a host nor its address/,
  },
  {
    scenario: 'deployment and details',
    what: 'describes another agent',
    answer: (path, body) => (path === DETAILS ? { ...body, agentId: 'other' } : body),
    says: /The details are those of other\./,
  },
  {
    scenario: 'the chat opens at its address',
    what: 'closes each chat at once',
    library: (bench, emulator) => {
      const open = bench.open.bind(bench)
      bench.open = async agent => {
        await open(agent)
        emulator.faults.add({ kind: 'drop', code: 4500 })
      }
    },
    says: /closed the chat at once/,
  },
  {
    scenario: 'a question gets an answer',
    what: 'answers with blanks',
    service: blank,
    says: /The answer is empty/,
  },
  {
    scenario: 'every message of the agent is read',
    what: 'says nothing',
    service: silent,
    options: SOON,
    says: /No message with text arrived/,
  },
  {
    scenario: 'every message of the agent is read',
    what: 'is missing in the transcript',
    library: replaceMethod('getTranscript', []),
    says: /The transcript lacks it/,
  },
  {
    scenario: 'messages of before initialize()',
    what: 'gets messages that were not queued',
    library: replaceMethod('getQueueSize', 0),
    says: /were not queued/,
  },
  {
    scenario: 'messages of before initialize()',
    what: 'gets no queued message',
    library: bench => {
      const create = bench.agent.bind(bench)
      bench.agent = config => Object.defineProperty(create(config), 'on', { value: () => () => {} })
      bench.sessionOf = () => 'none'
    },
    options: SOON,
    says: /Not within .* the queued messages are sent/,
  },
  {
    scenario: 'messages of before initialize()',
    what: 'loses all but the first queued message',
    onFrame: deafAfter(isUser),
    options: SOON,
    says: /Not within .* the transcript contains the queued messages/,
  },
  {
    scenario: 'messages of before initialize()',
    what: 'takes queued messages in another order',
    onFrame: () => {
      const held: Frame[] = []
      return frame => {
        if (!isUser(frame)) return frame.pass()
        held.unshift(frame)
        if (held.length === 3) for (const each of held) each.pass()
      }
    },
    says: /arrived in another order/,
  },
  {
    scenario: 'autoConnect',
    what: 'refuses each chat',
    fault: { kind: 'refuse-upgrade', status: 502 },
    options: SOON,
    says: /Not within .* the chat is open/,
  },
  {
    scenario: 'a frame that the service does not know',
    what: 'closes the chat after an unknown frame',
    onFrame: closeAfter(isUnknown, 1003),
    says: /The chat was closed/,
  },
  {
    scenario: 'a frame that the service does not know',
    what: 'loses what follows an unknown frame',
    onFrame: deafAfter(isUnknown),
    options: SOON,
    says: /The next question was not answered/,
  },
  {
    scenario: 'context attributes during the chat',
    what: 'ignores context frames',
    onFrame: () => frame => void (isContext(frame) || frame.pass()),
    options: SOON,
    says: /Not within .* the context is reported/,
  },
  {
    scenario: 'context attributes during the chat',
    what: 'closes the chat after the second context',
    onFrame: () => {
      let contexts = 0
      return closeAfter(frame => isContext(frame) && ++contexts === 2, 4500)()
    },
    says: /The chat was closed/,
  },
  {
    scenario: 'context attributes during the chat',
    what: 'loses what follows a context',
    onFrame: deafAfter(isContext),
    options: SOON,
    says: /The next question was not answered/,
  },
  {
    scenario: 'disconnect() and connect()',
    what: 'stays open',
    library: replaceMethod('isConnected', true),
    says: /The chat is still open/,
  },
  ...['disconnect() and connect()', 'an existing session'].flatMap((scenario): Broken[] => [
    {
      scenario,
      what: 'refuses a session that the client has left',
      service: { settings: { endSessionOnGracefulDisconnect: true } },
      says: /The session is refused/,
    },
    {
      scenario,
      what: 'hears nothing in a session that the client has left',
      onFrame: deafAfter(({ role }) => role === ROLE.GRACEFUL_DISCONNECT),
      options: SOON,
      says: /The session does not go on/,
    },
  ]),
  {
    scenario: 'restartConnection()',
    what: 'returns the first session again',
    answer: (() => {
      let first: object | undefined
      return (path: string, body: object) => {
        if (!path.endsWith('/session')) return body
        first ??= body
        return first
      }
    })(),
    says: /The session is the same/,
  },
  {
    scenario: 'restartConnection()',
    what: 'opens no second chat',
    library: bench => {
      const create = bench.agent.bind(bench)
      bench.agent = config => Object.defineProperties(create(config), { isConnected: { value: () => false } })
    },
    options: SOON,
    says: /Not within .* the chat is open/,
  },
  {
    scenario: 'an unknown session',
    what: 'accepts every session id',
    library: async bench => void (await (await bench.api()).getAiAgentSession({ agentId: 'help' })),
    address: (url, { world }) => {
      const address = new URL(url)
      const [known = ''] = world.sessions.keys()
      address.searchParams.set('sessionId', known)
      return address.href
    },
    options: SOON,
    says: /Not within .* the session is refused/,
  },
  {
    scenario: 'an unknown session',
    what: 'fails for an unknown session',
    fault: { kind: 'refuse-upgrade', status: 500, times: 1 },
    says: /does not say that the session is unknown/,
  },
  {
    scenario: 'an unknown session',
    what: 'refuses the new session too',
    fault: { kind: 'refuse-upgrade', status: 404 },
    options: SOON,
    says: /Not within .* a new session is open/,
  },
  {
    scenario: 'an agent for signed-in users',
    what: 'answers with blanks',
    service: blank,
    options: { agentId: 'account' },
    says: /The next question was not answered/,
  },
  {
    scenario: 'an agent for signed-in users',
    what: 'loses token frames',
    onFrame: () => frame => void (frame.role === ROLE.TOKEN || frame.pass()),
    options: { agentId: 'account', ...SOON },
    says: /The next question was not answered/,
  },
  {
    scenario: 'a long message',
    what: 'closes the chat after a long message',
    onFrame: closeAfter(isLong, 1009),
    options: SOON,
    says: /The chat was closed/,
  },
  {
    scenario: 'a long message',
    what: 'loses what follows a long message',
    onFrame: deafAfter(isLong),
    options: SOON,
    says: /The next question was not answered/,
  },
  {
    scenario: 'accepted messages',
    what: 'sends no receipts',
    service: { settings: { capabilities: ['receipts'] } },
    fault: { kind: 'lose-receipts' },
    options: SOON,
    says: /was not acknowledged/,
  },
]
