/** Files whose tests are tried together, and the tests that have to notice a change in them. */
export interface MutationArea {
  /** What is mutated. */
  readonly files: readonly string[]
  /** What runs against each change, in this order: the unit tests beside the files, then whole agents, the slow ones last. */
  readonly tests: readonly string[]
  /**
   * What does not run although `tests` matches it: slow tests of everything at once, without which each change costs a tenth.
   *
   * @default none
   */
  readonly without?: readonly string[]
}

const client = 'packages/client/src'
const protocol = 'packages/protocol/src'

/** A pattern of {@link MutationArea.tests}, with `*` for names and `{a,b}` for a choice. */
export function toRegExp(pattern: string): RegExp {
  const source = pattern
    .replace(/[.+]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replace(/\{([^}]*)\}/g, (_all, names: string) => `(?:${names.split(',').join('|')})`)
  return new RegExp(`^${source}$`)
}

/** Files with the tests beside them: `name.test.ts`, `name.property.test.ts` and the like. */
function beside(...names: readonly string[]): MutationArea {
  return {
    files: names.map(name => `${name}.ts`),
    tests: names.flatMap(name => [`${name}.test.ts`, `${name}.*.test.ts`]),
  }
}

/** Files of a folder of the client, tried with the unit tests of that folder, but not with its property tests. */
function whole(folder: string, ...names: readonly string[]): MutationArea {
  return {
    files: names.map(name => `${client}/${folder}/${name}.ts`),
    tests: [...names.map(name => `${client}/${folder}/${name}*.test.ts`), `${client}/${folder}/*.test.ts`],
    without: [`${client}/${folder}/*.property.test.ts`],
  }
}

/** An area whose rules need more tests than those beside its files. */
function withTests(area: MutationArea, tests: readonly string[]): MutationArea {
  return { ...area, tests: [...area.tests, ...tests] }
}

/** Quick tests of whole agents: portals, and the ends of an agent. */
const WHOLE_AGENT = [
  `${client}/agent/ai-agent.test.ts`,
  `${client}/resume/{page-end,slow-queue}.test.ts`,
  `${client}/contact-center/contact-center*.test.ts`,
  `${client}/chat/closes.test.ts`,
]

/** Quick tests of agents that ask, send and retry, also over a stored queue or `connectOnSend`, and whose session another tab takes. */
const SENDING_AGENT = [
  `${client}/log/{bounds,delivery,message-log,transcript}.test.ts`,
  `${client}/outbox/{asking,unknown-messages}.test.ts`,
  `${client}/resume/{page-end,sign-out,slow-queue,stored-queue}.test.ts`,
  `${client}/conversation/history.test.ts`,
  `${client}/agent/lifecycle-calls.test.ts`,
  `${client}/chat/{closes,context,resent-context}.test.ts`,
  `${client}/tabs/{answered,ended,taken}.test.ts`,
]

/** Files of the conversation that tabs share, tried with agents in several tabs. */
function tabs(...names: readonly string[]): MutationArea {
  return {
    files: names.map(name => `${client}/tabs/${name}.ts`),
    tests: [`${client}/tabs/*.test.ts`],
    without: [`${client}/tabs/*.property.test.ts`],
  }
}

/** The areas by name. Pure files and small owners of state, where a test beside the file can know every answer. */
export const AREAS: Readonly<Record<string, MutationArea>> = {
  scopes: beside(`${client}/auth/scopes`),
  'client-id': beside(`${client}/auth/login/deployment-login`),
  'logout-plan': beside(`${client}/auth/login/logout-plan`),
  backoff: withTests(whole('chat', 'backoff'), [`${client}/agent/initialize-retry.test.ts`]),
  'auto-select': beside(`${client}/contact-center/portal/auto-select`),
  language: beside(`${client}/rest/language`),
  codec: beside(`${protocol}/chat/codec`),
  context: beside(`${client}/chat/context-store`),
  stores: beside(...['store-guard', 'unstorage-cache-adapter'].map(name => `${client}/storage/${name}`)),
  queue: beside(`${client}/outbox/message-queue`),
  outbox: withTests(whole('outbox', 'outbox'), SENDING_AGENT),
  delivery: withTests(whole('outbox', 'burst-writer', 'delivery-ledger'), SENDING_AGENT),
  'stored-queue': withTests(
    {
      files: [`${client}/resume/stored-queue.ts`, `${client}/storage/handed-over.ts`],
      tests: [`${client}/storage/handed-over.property.test.ts`],
    },
    [`${client}/resume/{stored,slow}-queue.test.ts`],
  ),
  'turn-taking': whole('outbox', 'turn-taking'),
  transcript: withTests(whole('log', 'message-log', 'delivery'), [
    `${client}/outbox/question-turns.test.ts`,
    ...SENDING_AGENT,
  ]),
  recovery: withTests(whole('conversation', 'recovery'), [
    `${client}/log/transcript.test.ts`,
    `${client}/resume/resume.test.ts`,
    `${client}/tabs/{answered,ended}.test.ts`,
  ]),
  reconcile: {
    files: ['reconcile', 'reconcile-pages'].map(name => `${client}/log/${name}.ts`),
    tests: [`${client}/log/{reconcile,message-log}.test.ts`],
  },
  transport: beside(`${client}/chat/transport`),
  'access-token': beside(`${client}/auth/access-token`),
  'init-params': beside(`${client}/init-params`),
  'connector-url': beside(`${client}/contact-center/connector/connector-url`),
  gates: beside(`${client}/contact-center/portal/gates`),
  'portal-run': {
    files: [`${client}/contact-center/portal/portal-run.ts`],
    tests: [`${client}/contact-center/portal/portal-pipeline.*test.ts`],
  },
  config: beside(`${client}/config`, `${client}/check-config`, `${client}/session-id`),
  message: beside(`${client}/log/message`, `${client}/conversation/message-helpers`),
  'identity-errors': beside(`${client}/auth/login/identity-errors`),
  'frame-address': beside(`${protocol}/chat/address`, `${protocol}/chat/close-code`),
  masking: beside(`${client}/masking/data-masker`),
  'masking-patterns': {
    files: ['char-set', 'match', 'parse', 'prefilter', 'program'].map(name => `${client}/masking/pattern/${name}.ts`),
    tests: [`${client}/masking/pattern/*.test.ts`],
  },
  // What users must be able to trust: tokens, sign-in, sign-out, sessions, and the life of an agent.
  authentication: whole('auth', 'authentication-service', 'current-token', 'pre-auth-strategy', 'anonymous-strategy'),
  'sign-in': withTests(whole('auth/login', 'login', 'popup-navigator', 'login-page'), [
    `${client}/agent/page-sign-out.test.ts`,
  ]),
  session: whole('chat', 'chat-session', 'token-dialogue'),
  resume: whole('resume', 'session-resume', 'stored-session'),
  'tabs-sockets': tabs('socket-hub', 'tab-sockets'),
  'tabs-link': tabs('tab-link', 'tab-channel', 'tab-message', 'leadership'),
  'tabs-messages': tabs('log-replica', 'question-turn'),
  'tabs-session': tabs('group-session', 'sign-outs'),
  chat: whole('chat', 'chat', 'connection'),
  lifecycle: withTests(whole('agent', 'lifecycle'), WHOLE_AGENT),
  loading: withTests(whole('agent', 'start', 'initialize-retry'), WHOLE_AGENT),
}
