import { ApiError, ApiHelper, ConnectionError, createContextMessage, SDKError } from '@aiagent/client'
import { type Bench, claim, NotApplicable, rejection } from './bench.ts'

/** A scenario that any deployment can be asked. */
export interface ConformScenario {
  /** Ids of the rules that it proves. */
  readonly rules: readonly string[]
  readonly title: string
  run(bench: Bench): Promise<void>
}

const UNKNOWN_ID = 'conform-unknown-00000000'

/** The scenarios, from the first request to the end of a chat. */
export const SCENARIOS: readonly ConformScenario[] = [
  {
    rules: ['REST-11'],
    title: 'the deployment describes itself without a token',
    async run({ options }) {
      const info = await ApiHelper.getDeploymentInfo(options.endpoint, { enabled: false })
      const needed = ['aiAgentDomain', 'tenant_identifier', 'intClientId', 'extClientId', 'clientId'] as const
      const missing = needed.filter(name => !info[name])
      claim(missing.length === 0, `The deployment information lacks ${missing.join(', ')}.`)
    },
  },
  {
    rules: ['AUTH-02'],
    title: 'an anonymous token can be obtained',
    async run(bench) {
      if (bench.options.token !== undefined) throw new NotApplicable('a token was passed')
      const { token } = await bench.api()
      claim(token !== '', 'The token is empty.')
    },
  },
  {
    rules: ['REST-01'],
    title: 'the agent describes itself',
    async run(bench) {
      const { api } = await bench.api()
      const details = await api.getAgentDetails({ agentId: bench.options.agentId })
      claim(String(details.agentId) === bench.options.agentId, `The details are those of ${details.agentId}.`)
    },
  },
  {
    rules: ['REST-09'],
    title: 'an unknown agent is an error with a status and a reason',
    async run(bench) {
      const { api } = await bench.api()
      const error = await rejection(api.getAgentDetails({ agentId: UNKNOWN_ID }), 'The service knows every agent.')
      claim(error instanceof ApiError && error.reason === 'status', 'The failure has no HTTP status.')
      claim(error instanceof ApiError && (error.status ?? 0) < 500, 'The service answers with a server error.')
    },
  },
  {
    rules: ['REST-02'],
    title: 'POST creates a session with a context, each with its own id',
    async run(bench) {
      const { api } = await bench.api()
      const { agentId } = bench.options
      const first = await api.getAiAgentSession({ agentId, context: { conform: 'yes' } })
      const second = await api.getAiAgentSession({ agentId })
      claim(first !== second, 'Two sessions have the same id.')
    },
  },
  {
    rules: ['ERR-04'],
    title: 'a rejected token at the session is told apart from other failures',
    async run(bench) {
      const { api } = await bench.api()
      const { agentId } = bench.options
      const refused = api.getAiAgentSession({ agentId, authToken: 'e30.e30.invalid' })
      const error = await rejection(refused, 'The service accepts an invalid token.')
      claim(error instanceof SDKError && error.code === 'SESSION_UNAUTHORIZED', 'The status is not 401.')
    },
  },
  {
    rules: ['REST-12'],
    title: 'the transcript of a session can be loaded',
    async run(bench) {
      const agent = await bench.connected()
      await bench.ask(agent)
      const sessionId = bench.sessionOf(agent)
      const { api } = await bench.api()
      const transcript = await api.getPreviousTranscript({ agentId: bench.options.agentId, sessionId })
      claim(transcript.length > 0, 'The transcript is empty.')
    },
  },
  {
    rules: ['FLOW-01', 'FLOW-06'],
    title: 'initialize() needs deployment, details and session, in that order',
    async run(bench) {
      await bench.connected()
      const at = (part: string) => bench.requests.findIndex(({ path }) => path.includes(part))
      const order = [at('/deploymentInfo'), at('/details/agent/'), at('/session')]
      claim(!order.includes(-1), 'One of the three requests was not sent.')
      claim(
        order.every((place, index) => place >= (order[index - 1] ?? 0)),
        'The order differs.',
      )
    },
  },
  {
    rules: ['OPS-08'],
    title: 'deployment and details can be loaded before initialize()',
    async run(bench) {
      const agent = bench.agent()
      claim(Boolean((await agent.getDeploymentInfo()).apiDomain), 'There is no API domain.')
      claim(Boolean((await agent.getAgentDetails()).agentId), 'There is no agent id.')
    },
  },
  {
    rules: ['WS-01', 'WS-02', 'EVT-08'],
    title: 'the chat opens at its address, with the id of the session',
    async run(bench) {
      const agent = bench.agent()
      const seen: string[] = []
      for (const name of ['stateChanged', 'connected'] as const) agent.on(name, () => void seen.push(name))
      await agent.initialize()
      await agent.connect()
      claim(agent.isConnected() && seen.includes('connected'), 'The chat is not open.')
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
      claim(first?.done === false, 'No message arrived.')
      claim(
        agent.getTranscript().some(({ direction }) => direction === 'received'),
        'The transcript lacks it.',
      )
    },
  },
  {
    rules: ['OWN-07', 'FLOW-05'],
    title: 'messages of before initialize() are sent when the chat opens, in order',
    async run(bench) {
      const agent = bench.agent()
      const flushed = new Promise(resolve => agent.once('queueFlushed', resolve))
      await agent.send(bench.options.question)
      claim(agent.getQueueSize() === 1, 'The message was not queued.')
      await agent.initialize()
      await agent.connect()
      await Promise.race([flushed, pause(bench.options.timeoutMs)])
      claim(agent.getQueueSize() === 0, 'The message was not sent.')
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
      await agent.send({ persona: 'conform', role: 'conform', content: 'unknown' })
      const answer = await bench.ask(agent).catch(() => bench.ask(agent))
      claim(Boolean(answer.content), 'There is no answer after it.')
    },
  },
  {
    rules: ['FLOW-07', 'WS-06'],
    title: 'context attributes during the chat leave it open',
    async run(bench) {
      const agent = await bench.connected()
      await agent.setContext({ conform: 'yes' }, { sendImmediately: true })
      await agent.send(createContextMessage({ context: { conform: 'again' } }))
      await bench.ask(agent)
      claim(agent.isConnected(), 'The chat was closed.')
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
      await agent.connect()
      await bench.ask(agent)
      claim(bench.sessionOf(agent) === before, 'The session is another one.')
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
      const second = await bench.connected({ sessionId })
      await bench.ask(second)
      claim(bench.sessionOf(second) === sessionId, 'The session is another one.')
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
      const error = await agent.connect().then(
        () => undefined,
        (failure: unknown) => failure,
      )
      const isTold = error === undefined || (error instanceof ConnectionError && isUnknown(error))
      claim(isTold, 'The refusal does not say that the session is unknown (404, 410 or close code 4404).')
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
      await agent.initialize()
      await agent.connect()
      await bench.ask(agent)
    },
  },
  {
    rules: ['OWN-24'],
    title: 'a long message leaves the chat open, or usable',
    async run(bench) {
      const agent = await bench.connected()
      await agent.send(`conform ${'long '.repeat(14_000)}`)
      await bench.ask(agent).catch(() => bench.ask(agent))
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

function isUnknown({ httpStatus, closeCode }: ConnectionError): boolean {
  return httpStatus === 404 || httpStatus === 410 || closeCode === 4404
}

const pause = (ms: number) => new Promise<undefined>(resolve => setTimeout(() => resolve(undefined), ms).unref())
