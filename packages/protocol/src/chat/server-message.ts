/** Why the service refused one attribute of the context. */
export interface ContextValidationIssue {
  /** Name of the attribute. */
  name: string
  /** Why it was refused. `type_mismatch` is known; other values may come. */
  reason: string
  /** Type that the service expects, such as `integer`. */
  expectedType?: string | null
  /** Type that the attribute had. */
  providedType?: string | null
}

/** How a conversation can be escalated to a human. In agent messages with `escalation: true`. */
export interface EscalationData {
  /** True for a live chat, which the page at `entrypointUrl` opens. */
  live?: boolean | null
  /** Host of the live chat. */
  liveDomain?: string | null
  /** Address of the page where the user enters the live chat. */
  entrypointUrl?: string | null
  /** True when the user may call. */
  phone?: boolean | null
  /** Number to call. */
  phoneNumber?: string | null
  /** True when the user may send a text message. */
  sms?: boolean | null
  /** Number for text messages. */
  smsNumber?: string | null
  /** True when the user may write an email. */
  email?: boolean | null
}

/** An article that an answer is based on. The service's shape is open; these fields are the usual ones. */
export interface Source {
  /** Title of the article. */
  title?: string | null
  /** Address of the article. */
  url?: string | null
}

/** The open object that accompanies a frame from the service. Further fields pass through. */
export interface ServerMessageData {
  /** Code of token and error frames, such as `401-012`. A number reads as text. */
  error_code?: string | number | null
  /** Refused attributes of the context. In context validation frames. */
  contextValidationErrors?: ContextValidationIssue[] | null
  /** Earlier messages, whose shape is open. In chat history frames. */
  chat_history?: unknown[] | null
  /** Suggested answers. In follow-up questions. */
  options?: string[] | null
  /** True when the agent escalates the conversation to a human. In agent messages. */
  escalation?: boolean | null
  /** How to escalate. In agent messages with `escalation: true`. */
  escalationData?: EscalationData | null
  /** Articles that the answer is based on. In agent messages. */
  sources?: Source[] | null
  /** How the agent arrived at the answer. In agent messages. */
  reasoning?: string | null
  /** `preChatWorkflow`, `escalationWorkflow` or `agentWorkflow`. In agent messages of a workflow. */
  workflowType?: string | null
  /** Kind of the workflow's step. In agent messages of a workflow. */
  workflowNodeType?: string | null
  /** Input that the workflow expects. In agent messages of a workflow. */
  inputType?: string | null
}

/**
 * A frame from the service: one JSON object in one text frame. `persona` and `role` are required and not empty; every
 * other field may be missing or null. Further fields pass through.
 */
export interface ServerMessage {
  /** Id of the message, needed to rate an answer. */
  messageId?: string | null
  /** Who speaks; see `PERSONA` for the known values. */
  persona: string
  /** Kind of frame; see `ROLE` for the known values. */
  role: string
  /** Text of the message. Missing reads as empty text. */
  content?: string | null
  /** Data that accompanies the text. */
  messageData?: ServerMessageData | null
  /** Milliseconds since the epoch. Missing, or no time that `Date` can hold, reads as the time of receipt. */
  timestamp?: number | null
  /** Place in the session's sequence, from 1 up. Only where the service announces the capability `resume`. */
  seq?: number | null
}

/**
 * Data of a frame in either direction. A host may add fields of its own to the messages that it sends, so this type is
 * open; {@link ServerMessageData} names only what the service sends.
 */
export interface MessageData extends ServerMessageData {
  /** Attributes that join the session's context. From a client. */
  context?: Record<string, unknown>
  /** Rating of an answer. From a client. */
  feedback?: unknown
  /** What happened to an escalation. From a client. */
  escalationEvent?: unknown
  /** Access token. From a client. */
  token?: string
  /** Any further field. */
  [field: string]: unknown
}
