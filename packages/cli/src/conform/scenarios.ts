import { type AiAgent, ApiError, ConnectionError, createContextMessage, SDKError } from '@aiagent/client'
import { type Bench, claim, NotApplicable, pause, rejection, type SeenRequest } from './bench.ts'

/** A scenario that any deployment can be asked. */
export interface ConformScenario {
  /** Ids of the rules that it proves. */
  readonly rules: readonly string[]
  readonly title: string
  run(bench: Bench): Promise<void>
}

const UNKNOWN_ID = 'conform-unknown-00000000'
/** Each service refuses it, since its value is not an integer, and reports that: that shows that it has read the context. */
const INVALID_CONTEXT = { conform: { value: 'yes', type: 'integer' } }

/** The scenarios, from the first request to the end of a chat. */
export const SCENARIOS: readonly ConformScenario[] = [
  {
    rules: ['REST-11'],
    title: 'the deployment describes itself without a token',
    async run(bench) {
      const info = await bench.deploymentInfo()
      const needed = ['aiAgentDomain', 'tenant_identifier', 'intClientId', 'extClientId', 'clientId'] as const
      const missing = needed.filter(name => !info[name])
      claim(missing.length === 0, `The deployment information lacks ${missing.join(', ')}.`)
    },
  },
  {
    rules: ['AUTH-02'],
    title: 'an anonymous token can be obtained, and the service accepts it',
    async run(bench) {
      const { token, agentId } = bench.options
      if (token !== undefined) throw new NotApplicable('a token was passed')
      const error = await rejection((await bench.api()).getAgentDetails({ agentId }))
      claim(!(error instanceof ApiError && error.status === 401), 'The service rejects its own token.')
    },
  },
  {
    rules: ['REST-01'],
    title: 'the agent describes itself',
    async run(bench) {
      const api = await bench.api()
      const details = await api.getAgentDetails({ agentId: bench.options.agentId })
      claim(String(details.agentId) === bench.options.agentId, `The details are those of ${details.agentId}.`)
    },
  },
  {
    rules: ['REST-09'],
    title: 'an unknown agent is an error with a status and a reason',
    async run(bench) {
      const api = await bench.api()
      const error = await rejection(api.getAgentDetails({ agentId: UNKNOWN_ID }))
      claim(error !== undefined, 'The service knows every agent.')
      claim(error instanceof ApiError && error.reason === 'status', 'The failure has no HTTP status.')
      claim(error instanceof ApiError && (error.status ?? 0) < 500, 'The service answers with a server error.')
    },
  },
  {
    rules: ['REST-02'],
    title: 'POST creates a session, each with its own id',
    async run(bench) {
      const api = await bench.api()
      const { agentId } = bench.options
      const first = await api.getAiAgentSession({ agentId })
      const second = await api.getAiAgentSession({ agentId })
      claimPosts(bench)
      claim(first !== second, 'Two sessions have the same id.')
    },
  },
  {
    rules: ['REST-02'],
    title: 'a session knows the context of its POST',
    async run(bench) {
      const api = await bench.api()
      const { agentId } = bench.options
      const sessionId = await api.getAiAgentSession({ agentId, context: INVALID_CONTEXT })
      claimPosts(bench)
      const agent = bench.agent({ sessionId })
      const isReported = reportOfContext(agent)
      await bench.open(agent)
      await bench.until(isReported, 'the invalid attribute of the context in the POST is reported in the chat')
    },
  },
  {
    rules: ['ERR-04'],
    title: 'a rejected token at the session is told apart from other failures',
    async run(bench) {
      const api = await bench.api()
      const { agentId } = bench.options
      const error = await rejection(api.getAiAgentSession({ agentId, authToken: 'e30.e30.invalid' }))
      claim(error !== undefined, 'The service accepts an invalid token.')
      claim(error instanceof SDKError && error.code === 'SESSION_UNAUTHORIZED', 'The status is not 401.')
    },
  },
  {
    rules: ['REST-12'],
    title: 'the transcript of a session can be loaded, and contains its messages',
    async run(bench) {
      const agent = await bench.connected()
      await bench.ask(agent)
      const transcript = await bench.transcriptOf(agent)
      claim(placeOf(bench.options.question, transcript) >= 0, 'The transcript lacks the question.')
    },
  },
  {
    rules: ['FLOW-01'],
    title: 'initialize() needs deployment, details and session, in that order',
    async run(bench) {
      await bench.connected()
      const first = (part: string) => bench.requests.find(({ path }) => path.includes(part))
      const [deployment, details, session] = [first('/deploymentInfo'), first('/details/agent/'), first('/session')]
      claim(Boolean(deployment && details && session), 'One of the three requests was not sent.')
      const isAfter = (later?: SeenRequest, earlier?: SeenRequest) =>
        (later?.sentAt ?? 0) > (earlier?.answeredAt ?? Number.POSITIVE_INFINITY)
      claim(
        isAfter(details, deployment) && isAfter(session, details),
        'A request was sent before the previous one was answered.',
      )
    },
  },
  {
    rules: ['FLOW-06'],
    title: 'an agent without login needs no details of a user',
    async run(bench) {
      const agent = await bench.connected()
      if ((await agent.getAgentDetails()).isAuthenticated) throw new NotApplicable('the agent needs a login')
      const isOfUser = bench.requests.some(({ path }) => /\/portals\/user$|\/customer$/.test(path))
      claim(!isOfUser, 'Details of a user were requested.')
    },
  },
  {
    rules: ['OPS-08'],
    title: 'deployment and details can be loaded before initialize()',
    async run(bench) {
      const agent = bench.agent()
      const { apiDomain } = await agent.getDeploymentInfo()
      claim(/^(https?:\/\/)?[\w.:[\]-]+\/*$/.test(apiDomain), 'The API domain is neither a host nor its address.')
      const { agentId } = await agent.getAgentDetails()
      claim(String(agentId) === bench.options.agentId, `The details are those of ${agentId}.`)
    },
  },
  {
    rules: ['WS-01', 'WS-02', 'EVT-08'],
    title: 'the chat opens at its address, with the id of the session, and stays open',
    async run(bench) {
      const agent = bench.agent()
      const isStillOpen = watchClose(agent)
      await bench.open(agent)
      await bench.settle()
      claim(isStillOpen(), 'The service closed the chat at once.')
    },
  },
  {
    rules: ['OWN-21', 'EVT-08'],
    title: 'a question gets an answer',
    async run(bench) {
      const answer = await bench.ask(await bench.connected())
      claim(Boolean(answer.content?.trim()), 'The answer is empty.')
    },
  },
  {
    rules: ['OWN-22', 'FLOW-24'],
    title: 'every message of the agent is read, and stands in the transcript',
    async run(bench) {
      const agent = await bench.connected()
      const messages = agent.messages()
      await agent.send(bench.options.question)
      const first = await Promise.race([messages.next(), pause(bench.options.timeoutMs)])
      const said = first?.value?.content?.trim()
      claim(Boolean(said), 'No message with text arrived.')
      claim(
        agent
          .getTranscript()
          .some(({ direction, message }) => direction === 'received' && message.content?.trim() === said),
        'The transcript lacks it.',
      )
    },
  },
  {
    rules: ['OWN-07', 'FLOW-05'],
    title: 'messages of before initialize() are sent when the chat opens, in order',
    async run(bench) {
      const agent = bench.agent()
      let flushed = 0
      agent.on('queueFlushed', ({ payload }) => void (flushed += payload.count))
      const texts = [1, 2, 3].map(number => `${bench.options.question} (${number})`)
      for (const text of texts) await agent.send(text)
      claim(agent.getQueueSize() === texts.length, 'The messages were not queued.')
      await bench.open(agent)
      await bench.until(() => flushed === texts.length, 'the queued messages are sent')
      // Only the transcript shows what arrived. Where it cannot be loaded, REST-12 is violated, and the order stays unknown.
      const places = async () => {
        const transcript = await bench.transcriptOf(agent).catch(() => texts)
        return texts.map(text => placeOf(text, transcript))
      }
      await bench.until(async () => !(await places()).includes(-1), 'the transcript contains the queued messages')
      const [first = 0, second = 0, third = 0] = await places()
      claim(first < second && second < third, 'The messages arrived in another order.')
    },
  },
  {
    rules: ['CFG-03'],
    title: 'autoConnect opens the chat',
    async run(bench) {
      const agent = bench.agent({ autoConnect: true })
      await agent.initialize()
      await bench.until(() => agent.isConnected(), 'the chat is open')
    },
  },
  {
    rules: ['WS-04'],
    title: 'a frame that the service does not know leaves the chat open',
    async run(bench) {
      const agent = await bench.connected()
      const isStillOpen = watchClose(agent)
      await agent.send({ persona: 'conform', role: 'conform', content: 'unknown' })
      await bench.settle()
      claim(isStillOpen(), 'The chat was closed.')
      await claimAnswer(bench, agent, isStillOpen)
    },
  },
  {
    rules: ['FLOW-07', 'WS-06'],
    title: 'context attributes during the chat are read, and leave it open',
    async run(bench) {
      const agent = await bench.connected()
      const isStillOpen = watchClose(agent)
      const isReported = reportOfContext(agent)
      await agent.setContext(INVALID_CONTEXT, { sendImmediately: true })
      await bench.until(isReported, 'the invalid attribute of the context is reported in the chat')
      await agent.send(createContextMessage({ context: { conform: 'yes' } }))
      await bench.settle()
      claim(isStillOpen(), 'The chat was closed.')
      await claimAnswer(bench, agent, isStillOpen)
    },
  },
  {
    rules: ['OWN-02', 'FLOW-02'],
    title: 'disconnect() and connect() go on in the same session',
    async run(bench) {
      const agent = await bench.connected()
      const before = bench.sessionOf(agent)
      await agent.disconnect()
      claim(!agent.isConnected(), 'The chat is still open.')
      await claimSession(bench, agent, before, agent.connect())
    },
  },
  {
    rules: ['CFG-10'],
    title: 'an existing session can be continued by its id',
    async run(bench) {
      const first = await bench.connected()
      await bench.ask(first)
      const sessionId = bench.sessionOf(first)
      await first.disconnect()
      const second = bench.agent({ sessionId })
      await claimSession(bench, second, sessionId, bench.open(second))
    },
  },
  {
    rules: ['FLOW-09'],
    title: 'restartConnection() makes a new session',
    async run(bench) {
      const agent = await bench.connected()
      const before = bench.sessionOf(agent)
      await agent.restartConnection()
      await bench.until(() => agent.isConnected(), 'the chat is open')
      await bench.ask(agent)
      claim(bench.sessionOf(agent) !== before, 'The session is the same.')
    },
  },
  {
    rules: ['OWN-04'],
    title: 'an unknown session is refused so that the client can replace it',
    async run(bench) {
      const agent = bench.agent({ sessionId: UNKNOWN_ID, baseReconnectDelay: 100 })
      await agent.initialize()
      const errors: unknown[] = []
      agent.on('error', ({ payload }) => void errors.push(payload.error))
      errors.push(await rejection(agent.connect()))
      // A service may accept the connection, and then close it with 4404.
      await bench.until(() => errors.some(error => error instanceof ConnectionError), 'the session is refused')
      claim(
        errors.some(isUnknownSession),
        'The refusal does not say that the session is unknown (404, 410 or close code 4404).',
      )
      await bench.until(() => agent.isConnected() && bench.sessionOf(agent) !== UNKNOWN_ID, 'a new session is open')
    },
  },
  {
    rules: ['OWN-06'],
    title: 'an agent for signed-in users accepts the token in the chat',
    async run(bench) {
      const agent = bench.agent()
      const details = await agent.getAgentDetails()
      if (!details.isAuthenticated) throw new NotApplicable('the agent needs no login')
      await bench.open(agent)
      await claimAnswer(bench, agent)
    },
  },
  {
    rules: ['OWN-24'],
    title: 'a long message leaves the chat open',
    async run(bench) {
      const agent = await bench.connected()
      const isStillOpen = watchClose(agent)
      // Answered, refused or ignored: what counts is the next question.
      await rejection(agent.ask(`conform ${'long '.repeat(14_000)}`, { timeoutMs: bench.options.timeoutMs }))
      claim(isStillOpen(), 'The chat was closed.')
      await claimAnswer(bench, agent, isStillOpen)
    },
  },
  {
    rules: ['REL-72'],
    title: 'accepted messages are acknowledged',
    async run(bench) {
      const agent = await bench.connected()
      const { capabilities } = await agent.getDeploymentInfo()
      if (!capabilities?.includes('receipts')) throw new NotApplicable('the service announces no receipts')
      const id = await agent.send(bench.options.question)
      const outcome = await Promise.race([agent.delivery(id)?.outcome, pause(bench.options.timeoutMs)])
      claim(outcome === 'acknowledged', 'The message was not acknowledged.')
    },
  },
]

function isUnknownSession(error: unknown): boolean {
  if (!(error instanceof ConnectionError)) return false
  const { httpStatus, closeCode } = error
  return httpStatus === 404 || httpStatus === 410 || closeCode === 4404
}

/** Claims that no POST for a session was refused: the library uses GET then, and its success says nothing about POST. */
function claimPosts({ requests }: Bench): void {
  const calls = requests.filter(({ path }) => path.endsWith('/session'))
  const refused = calls.find(({ method, status = 0 }) => method !== 'POST' || status >= 300)
  claim(refused === undefined, `The service refuses POST for a session (HTTP status ${refused?.status}).`)
}

/** Claims that the next question is answered: at the first attempt, and on the same connection. */
async function claimAnswer(bench: Bench, agent: AiAgent, isStillOpen = () => true): Promise<void> {
  const answer = await bench.ask(agent).catch(() => undefined)
  claim(isStillOpen() && Boolean(answer?.content?.trim()), 'The next question was not answered.')
}

/** Claims that a session is opened again, and goes on. */
async function claimSession(bench: Bench, agent: AiAgent, sessionId: string, opening: Promise<void>): Promise<void> {
  claim((await rejection(opening)) === undefined, 'The session is refused.')
  const answer = await bench.ask(agent).catch(() => undefined)
  claim(answer !== undefined && bench.sessionOf(agent) === sessionId, 'The session does not go on.')
}

/** Watches for a close of the chat: a later reconnect does not undo it. */
function watchClose(agent: AiAgent): () => boolean {
  let isStillOpen = true
  agent.on('closed', () => {
    isStillOpen = false
  })
  return () => isStillOpen
}

/** Watches for the report of {@link INVALID_CONTEXT}. */
function reportOfContext(agent: AiAgent): () => boolean {
  let isReported = false
  agent.on('contextValidation', ({ payload }) => {
    isReported ||= payload.issues.some(({ name }) => name in INVALID_CONTEXT)
  })
  return () => isReported
}

/** Place of the entry of a transcript that contains a text; -1 without one. Its fields differ between services. */
function placeOf(text: string, transcript: readonly unknown[]): number {
  const part = JSON.stringify(text).slice(1, -1)
  return transcript.findIndex(entry => JSON.stringify(entry)?.includes(part))
}
