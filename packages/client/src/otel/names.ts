/*
 * Names of the conventions for generative AI (https://github.com/open-telemetry/semantic-conventions-genai, November 2026,
 * status "Development") and for HTTP (stable), as literals: the first ones still change, and this file alone knows them.
 */

/** Names of attributes. */
export const ATTRIBUTE = {
  OPERATION: 'gen_ai.operation.name',
  PROVIDER: 'gen_ai.provider.name',
  AGENT_ID: 'gen_ai.agent.id',
  AGENT_NAME: 'gen_ai.agent.name',
  AGENT_VERSION: 'gen_ai.agent.version',
  CONVERSATION: 'gen_ai.conversation.id',
  OUTPUT_TYPE: 'gen_ai.output.type',
  RESPONSE: 'gen_ai.response.id',
  INPUT: 'gen_ai.input.messages',
  OUTPUT: 'gen_ai.output.messages',
  EVALUATION: 'gen_ai.evaluation.name',
  SCORE_LABEL: 'gen_ai.evaluation.score.label',
  SCORE_VALUE: 'gen_ai.evaluation.score.value',
  ERROR: 'error.type',
  ADDRESS: 'server.address',
  PORT: 'server.port',
  METHOD: 'http.request.method',
  RESEND: 'http.request.resend_count',
  STATUS: 'http.response.status_code',
  TEMPLATE: 'url.template',
  LIBRARY: 'aiagent.library.version',
  ATTEMPT: 'aiagent.connect.attempt',
  CLOSE_CODE: 'aiagent.close.code',
  CLOSE_CAUSE: 'aiagent.close.cause',
  RETRY_IN: 'aiagent.retry_in_ms',
  PHASE: 'aiagent.phase',
  DELIVERY: 'aiagent.delivery.state',
  REASON: 'aiagent.delivery.reason',
  ESCALATION: 'aiagent.escalation.type',
} as const

/** Names of spans, of their events, and of events of the log. */
export const NAME = {
  TURN: 'invoke_agent',
  INITIALIZE: 'aiagent.initialize',
  CONNECT: 'aiagent.connect',
  LOST: 'aiagent.connection_lost',
  QUEUED: 'aiagent.queued',
  SENT: 'aiagent.sent',
  DELIVERED: 'aiagent.delivery',
  ESCALATED: 'aiagent.escalation',
  EVALUATED: 'gen_ai.evaluation.result',
} as const

/** Durations in seconds, with the bounds of their buckets that the conventions prescribe: 0.01, 0.02, 0.04 … 81.92. */
const SECONDS = {
  unit: 's',
  advice: { explicitBucketBoundaries: /* @__PURE__ */ Array.from({ length: 14 }, (_, n) => 2 ** n / 100) },
}

/** Names of metrics, with what describes them. */
export const METRIC = {
  DURATION: ['gen_ai.client.operation.duration', { ...SECONDS, description: 'GenAI operation duration.' }],
  FIRST_RESPONSE: [
    'aiagent.time_to_first_response',
    { ...SECONDS, description: 'Time from a message of the user to the first message of the agent after it.' },
  ],
  QUEUE: ['aiagent.queue.length', { unit: '{message}', description: 'Messages that wait to be sent.' }],
  RECONNECTS: ['aiagent.reconnects', { unit: '{attempt}', description: 'Attempts to connect after a loss.' }],
} as const

/** Kinds and status codes of OpenTelemetry. */
export const KIND = { INTERNAL: 0, CLIENT: 2 } as const
export const STATUS_ERROR = 2
