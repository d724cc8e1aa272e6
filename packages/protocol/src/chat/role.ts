/** What a frame is about. Mind the spelling: some values have underscores, some blanks. Unknown values are ignored. */
export const ROLE = {
  STALE_TOKEN: 'stale_token',
  EXPIRED_TOKEN: 'expired_token',
  TOKEN: 'token',
  CHAT_HISTORY: 'chat history',
  ERROR: 'error',
  HEARTBEAT: 'heartbeat',
  CONTEXT_VALIDATION: 'context validation',
  FOLLOW_UP_QUESTION: 'follow up question agent',
  CUSTOMER_SUPPORT: 'customer support agent',
  CONTEXT: 'context',
  GRACEFUL_DISCONNECT: 'graceful disconnect',
  ESCALATION: 'escalation',
  FEEDBACK: 'feedback',
  HUMAN: 'human',
} as const

/** A known role, as it stands on the wire. */
export type Role = (typeof ROLE)[keyof typeof ROLE]
