import {
  type AgentMessage,
  AgentMessageHandler,
  type DeliveryState,
  type EscalationOption,
  type FeedbackRating,
  handOverAddress,
  type MaskingPreview,
  PERSONA,
  ROLE,
  type TranscriptEntry,
} from '@aiagent/client'

/** What an answer is based on. */
export interface ConversationSource {
  /** Text of the link: the title, else the address. */
  readonly title: string
  /** Address with `http:` or `https:` and without credentials. Undefined where the service sent no such address. */
  readonly url: string | undefined
}

/** A part of a text, in UTF-16 code units. */
export interface TextRange {
  /** The first code unit. */
  readonly start: number
  /** The code unit behind the last one. */
  readonly end: number
}

/** How the agent hands the conversation over to a human. */
export interface ConversationEscalation {
  /** `live`: a chat at `url`. `alternate`: by phone, SMS or email, as `options` lists them. */
  readonly type: 'live' | 'alternate'
  /** Address of the live chat, with `http:` or `https:` and without credentials. Undefined where there is no usable one. */
  readonly url: string | undefined
  /** Ways to reach a human without a live chat. */
  readonly options: readonly EscalationOption[]
}

/** The step of a workflow of the service to which a message belongs. */
export interface ConversationWorkflow {
  /** `preChatWorkflow`, `escalationWorkflow` or `agentWorkflow`; other values pass through. */
  readonly type: string | undefined
  /** Kind of the step. */
  readonly nodeType: string | undefined
}

/** One visible message. It is frozen, and stays the same object until one of its values changes. */
export interface ConversationMessage {
  /** Unique in the conversation: the id to pass to the actions, and a key for lists. */
  readonly id: string
  /** `colleague` for messages of a live desk, see the option `escalate`; `agent` for all others that the user did not write. */
  readonly author: 'user' | 'agent' | 'colleague'
  /** Name of the agent or the colleague, or `customer`. */
  readonly authorName: string | undefined
  /**
   * Of a chat with colleagues; `authorName` is the colleague. `desk_opened`: the agent's part ends here; the name is that of the first who has
   * joined, once it is known. `desk_joined`: another one has joined. `desk_left`: one has left, and the user waits for the next.
   * `desk_closed`: the chat has ended, and the agent continues; the name is that of the one who has left, if that was the reason. Such an
   * item has the author `colleague` and no text.
   */
  readonly mark: 'desk_opened' | 'desk_joined' | 'desk_left' | 'desk_closed' | undefined
  /** Milliseconds since the epoch. */
  readonly time: number
  /** The text: masked for the user, usually Markdown for the agent. */
  readonly content: string
  /** What the answer is based on; empty if the agent names nothing. */
  readonly sources: readonly ConversationSource[]
  /** Suggested answers. */
  readonly options: readonly string[]
  /** The option that the user took. */
  readonly chosenOption: string | undefined
  /** Whether the options wait for the user: true until a message of the user that is not taken back, or the next options. */
  readonly canChoose: boolean
  /** Whether the message can be rated. */
  readonly canRate: boolean
  /** The rating that was given. */
  readonly rating: FeedbackRating | undefined
  /** The hand-over that the message offers, if any. */
  readonly escalation: ConversationEscalation | undefined
  /** How the agent arrived at the answer, where the service says so. */
  readonly reasoning: string | undefined
  /** The workflow that the message belongs to, if any. */
  readonly workflow: ConversationWorkflow | undefined
  /** What the workflow expects as the next message: `type` is as the service sent it, such as `email`. */
  readonly input: { readonly type: string } | undefined
  /**
   * Fields of the message's data that no other member shows, as the service sent them: deeply frozen JSON. Empty for messages of the user,
   * and where they hold more than 5,000 values or 100,000 characters; the transcript has them.
   */
  readonly data: Readonly<Record<string, unknown>>
  /** Parts of the text that masking replaced, where the message was sent through a view; after a reload with `resume` too. */
  readonly maskedRanges: readonly TextRange[]
  /** How far a message of the user is; undefined for messages of the agent. */
  readonly delivery: DeliveryState | undefined
  /** The service's id of the agent's message, the sender's id of the user's. Undefined for messages of the user to a live desk. */
  readonly messageId: string | undefined
  /** Session in which it was sent, where that is known. */
  readonly sessionId: string | undefined
}

export const NONE: readonly never[] = Object.freeze([])
const NOTHING: Readonly<Record<string, unknown>> = Object.freeze({})

/** Fields of the data of a message that other members show, or that belong to other kinds of frames. */
const NAMED: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'options',
  'escalation',
  'escalationData',
  'sources',
  'reasoning',
  'workflowType',
  'workflowNodeType',
  'inputType',
  'error_code',
  'contextValidationErrors',
  'chat_history',
  'context',
  'feedback',
  'escalationEvent',
  'token',
])

const handler = /* @__PURE__ */ new AgentMessageHandler()

/** Whether a value from outside is a rating. */
export const isRating = (value: unknown): value is FeedbackRating => value === 'up' || value === 'down'

/** The rating that the user has sent with this entry; a frame of the service is none. */
export function feedbackOf({ direction, message }: TranscriptEntry): Feedback | undefined {
  if (direction !== 'sent' || message.role !== ROLE.FEEDBACK) return undefined
  const { answerMessageId, rating } = Object(message.messageData?.feedback) as Partial<Record<keyof Feedback, unknown>>
  return isText(answerMessageId) && isRating(rating) ? { answerMessageId, rating } : undefined
}

interface Feedback {
  readonly answerMessageId: string
  readonly rating: FeedbackRating
}

/** The visible message of an entry, before anything that follows it; undefined for entries that are not shown. */
export function conversationMessage(entry: TranscriptEntry): ConversationMessage | undefined {
  const { id, direction, timestamp, sessionId } = entry
  const { persona, role, messageId, content = '', from } = entry.message
  const isUser = direction === 'sent' && persona === PERSONA.CUSTOMER && role === ROLE.HUMAN
  if (!isUser && (direction === 'sent' || persona !== PERSONA.AGENT)) return undefined
  const answer = isUser ? undefined : handler.handle(entry.message).message
  const options = answer?.showOptions
    ? Object.freeze((answer.options ?? []).filter(option => isText(option) && option.trim()))
    : NONE
  return message({
    id: isUser ? (messageId ?? id) : id,
    author: isUser ? 'user' : 'agent',
    authorName: from,
    time: timestamp,
    content,
    sources: answer?.sources ? Object.freeze(answer.sources.flatMap(sourceOf)) : NONE,
    options,
    canChoose: options.length > 0,
    canRate: answer?.showFeedback === true && messageId !== undefined,
    escalation: answer?.escalationType && escalationOf(answer.escalationType, answer.escalationData ?? {}),
    reasoning: answer?.showReasoning ? answer.reasoning : undefined,
    ...(answer && workflowOf(answer.raw)),
    messageId,
    sessionId,
  })
}

/** A message of the user that no entry holds yet. */
export function heldMessage(id: string, content: string, time: number): ConversationMessage {
  return message({ id, messageId: id, content, time, author: 'user', authorName: PERSONA.CUSTOMER, delivery: 'queued' })
}

/** The message with some values replaced; the same object where nothing differs. */
export function changed(item: ConversationMessage, changes: Partial<ConversationMessage>): ConversationMessage {
  const keys = Object.keys(changes) as (keyof ConversationMessage)[]
  return keys.every(key => item[key] === changes[key]) ? item : message({ ...item, ...changes })
}

type Always = 'id' | 'author' | 'authorName' | 'time' | 'content' | 'messageId'

/** A message with all its values. Written out, since freezing an object made by spreading takes fifty times as long. */
export function message({
  id,
  author,
  authorName,
  mark,
  time,
  content,
  sources = NONE,
  options = NONE,
  chosenOption,
  canChoose = false,
  canRate = false,
  rating,
  escalation,
  reasoning,
  workflow,
  input,
  data = NOTHING,
  maskedRanges = NONE,
  delivery,
  messageId,
  sessionId,
}: Pick<ConversationMessage, Always> & Partial<ConversationMessage>): ConversationMessage {
  return Object.freeze({
    id,
    author,
    authorName,
    mark,
    time,
    content,
    sources,
    options,
    chosenOption,
    canChoose,
    canRate,
    rating,
    escalation,
    reasoning,
    workflow,
    input,
    data,
    maskedRanges,
    delivery,
    messageId,
    sessionId,
  })
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** What the service says about the step of a workflow, and all that has no name. */
function workflowOf(raw: AgentMessage['raw']): Pick<ConversationMessage, 'workflow' | 'input' | 'data'> {
  const { workflowType: type, workflowNodeType: nodeType, inputType } = raw
  const workflow = { type: type || undefined, nodeType: nodeType || undefined }
  const further = Object.entries(raw).filter(([name]) => !NAMED.has(name))
  return {
    workflow: type || nodeType ? Object.freeze(workflow) : undefined,
    input: inputType ? Object.freeze({ type: inputType }) : undefined,
    data:
      further.length > 0
        ? (frozenCopy(Object.fromEntries(further), { values: 5_000, characters: 100_000 }) ?? NOTHING)
        : NOTHING,
  }
}

/** A deeply frozen copy of JSON; undefined where it exceeds what is left, which it counts down. */
function frozenCopy<Value>(value: Value, left: { values: number; characters: number }): Value | undefined {
  left.values--
  if (isText(value)) left.characters -= value.length
  if (left.values < 0 || left.characters < 0) return undefined
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = Array.isArray(value) ? ([] as unknown as Record<string, unknown>) : {}
  for (const [name, each] of Object.entries(value)) {
    left.characters -= name.length
    const part = frozenCopy(each as unknown, left)
    if (part === undefined) return undefined
    // By assignment a field of this name would be the prototype.
    if (name !== '__proto__') copy[name] = part
  }
  return Object.freeze(copy) as Value
}

/** An escalation without an address that is not usable. */
export function escalationOf(
  type: ConversationEscalation['type'],
  data: { options?: EscalationOption[] } & Parameters<typeof handOverAddress>[0],
): ConversationEscalation {
  const options = Object.freeze((data.options ?? []).map(option => Object.freeze({ ...option })))
  return Object.freeze({ type, url: handOverAddress(data)?.href, options })
}

/** The service may send anything as a source. */
function sourceOf(value: unknown): ConversationSource[] {
  const { title, url } = (value ?? {}) as { title?: unknown; url?: unknown }
  const href = isText(url) ? handOverAddress({ entrypointUrl: url })?.href : undefined
  const text = (isText(title) && title) || href
  return text ? [Object.freeze({ title: text, url: href })] : []
}

/** Where the masked text differs from what the user wrote, as parts of the masked text. */
export function maskedRanges({ spans }: MaskingPreview): readonly TextRange[] {
  let shift = 0
  return Object.freeze(
    spans.map(({ start, end, replacement }) => {
      const from = start + shift
      shift += replacement.length - (end - start)
      return Object.freeze({ start: from, end: from + replacement.length })
    }),
  )
}
