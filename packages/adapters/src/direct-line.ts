/**
 * The conversation for Bot Framework WebChat, as a DirectLine connection.
 *
 * @module
 */
import type { ConversationMessage, ConversationView } from '@aiagent/view'
import { attempt, createSubject, nextOf, type ObservableLike } from './observable.ts'
import { withoutSession } from './published-message.ts'

export type { ObservableLike, ObserverLike } from './observable.ts'

/** An activity of the Bot Framework, with the fields that this adapter writes. */
export interface Activity {
  /** `message` for texts, `typing` while the agent works on an answer, `event` for the echo of a rating and for a hand-over. */
  readonly type: 'message' | 'typing' | 'event'
  /** The Bot Framework's events of a hand-over: `handoff.initiate` while the user waits for a colleague, and `handoff.status`. */
  readonly name?: 'handoff.initiate' | 'handoff.status'
  /** Of `handoff.status`: `accepted` once a colleague has joined the live desk, `completed` when that has closed. */
  readonly value?: { readonly state: 'accepted' | 'completed' }
  /** Unique. For a message its id in the conversation view. */
  readonly id: string
  /** Time as an ISO 8601 string in UTC. */
  readonly timestamp: string
  /** Sender: the user has the role `user`; the agent and the humans of the service have `bot`. */
  readonly from: { readonly id: string; readonly role: 'bot' | 'user'; readonly name?: string }
  /** The text of a message, with its sources as a list of links at the end. */
  readonly text?: string
  /** `markdown` for messages of the agent, `plain` for those of the user. */
  readonly textFormat?: 'markdown' | 'plain'
  /** Whether the service waits for a message of the user, of which `channelData.message.input` names the type. */
  readonly inputHint?: 'expectingInput'
  /** Options of a question, as buttons. Absent as soon as the question is answered. */
  readonly suggestedActions?: { readonly to: string[]; readonly actions: readonly object[] }
  /** Offers ratings, where the message can be rated. */
  readonly entities?: readonly object[]
  /** `message`: the message of the view. The other fields are WebChat's own: order, delivery and client id. */
  readonly channelData?: Readonly<Record<string, unknown>>
}

/** An activity of the user, as WebChat posts it. */
export interface PostedActivity {
  /** `message` for texts, `event` for ratings. Other types are rejected. */
  readonly type: string
  /** Name of an event. Only WebChat's feedback event is accepted. */
  readonly name?: string
  /** Text of the user. */
  readonly text?: string
  /** Files. A message with attachments is rejected, since the service accepts none. */
  readonly attachments?: readonly unknown[]
  /** For a rating: the chosen action, with the id of the rated message. */
  readonly entities?: readonly unknown[]
  /** Data of WebChat. Its `clientActivityID` is returned in the emitted activity. */
  readonly channelData?: object
}

/** What Bot Framework WebChat takes as `directLine`. */
export interface DirectLineLike {
  /** The messages and the typing indicator. Each subscriber first receives all messages so far. */
  readonly activity$: ObservableLike<Activity>
  /**
   * 0 uninitialized, 1 connecting, 2 online, also while the chat reconnects and queues messages, 3 expired token, 4 failed to
   * connect, 5 ended. WebChat gives up after 3, 4 and 5: pass it a new object.
   */
  readonly connectionStatus$: ObservableLike<number>
  /**
   * Sends a message of the user, or a rating. Emits the id when it has left; until then WebChat shows it as being sent. What the
   * service has no message for, a message that cannot be sent, and one that is lost with its conversation are errors.
   */
  postActivity(activity: PostedActivity): ObservableLike<string>
  /** Ends the object; the agent lives on. */
  end(): void
}

const USER = 'user'
const ENDED = 'The connection has ended.'
/** Name of the event by which WebChat posts a rating. */
const RATING = 'webchat:activity-status/feedback'

/** What is known of an emitted message. */
interface Emitted {
  readonly message: ConversationMessage
  /** Place among the messages, for WebChat, which sorts by it. */
  readonly place: number
  /** Id by which WebChat recognizes its own activity. */
  readonly clientId: unknown
  /** For a mark of a live desk: whether a colleague has joined. */
  readonly hasJoined: boolean
  /** The same array for each activity of the message: WebChat shows the chosen thumb by its identity. */
  readonly entities: readonly object[]
}

/** The conversation as a DirectLine connection, so that Bot Framework WebChat renders it. Start the view yourself. */
export function createDirectLine(view: ConversationView): DirectLineLike {
  const activities = createSubject<Activity>()
  const statuses = createSubject<number>()
  const emitted = new Map<string, Emitted>()
  const clientIds = new Map<string, unknown>()
  /** Settles posted messages by their id; `undefined` for a message that is gone. */
  const posted = new Map<string, (delivery: string | undefined) => void>()
  let status = -1
  let isTyping = false
  let isEnded = false

  const update = () => {
    if (isEnded) return
    const { connection, messages, isWorking, needsLogin } = view.getSnapshot()
    const next = needsLogin ? 3 : statusOf(connection.state, status)
    if (next !== status) statuses.next((status = next))
    let before = Number.NEGATIVE_INFINITY
    for (const [index, message] of messages.entries()) {
      const known = emitted.get(message.id)
      const place = known && known.place > before ? known.place : placeOf(index, before)
      const clientId = clientIds.get(message.id)
      const hasJoined = message.mark !== undefined && hasJoinedAt(messages, index)
      before = place
      const isSame = known?.message === message && known.place === place && known.clientId === clientId
      if (isSame && known.hasJoined === hasJoined) continue
      const next = { message, place, clientId, hasJoined, entities: known?.entities ?? [ratingOf(message.id)] }
      emitted.set(message.id, next)
      activities.next(activityOf(next))
      posted.get(message.id)?.(message.delivery)
    }
    if (emitted.size > messages.length) forgetAllBut(new Set(messages.map(({ id }) => id)))
    if (isWorking && !isTyping) {
      // Before the next message, which then ends the indicator.
      const channelData = { 'webchat:sequence-id': Math.max(before, 0) + 0.5 }
      activities.next({ ...activity('typing', 'agent', `typing-${Date.now()}`), channelData })
    }
    isTyping = isWorking
  }

  /** A place behind that of the message before, and before that of the next one that has a place. */
  const placeOf = (index: number, before: number) => {
    const behind = emitted.size > index ? view.getSnapshot().messages.slice(index + 1) : []
    const after = behind.map(({ id }) => emitted.get(id)?.place).find(place => place !== undefined && place > before)
    return after === undefined ? Math.max(before, 0) + 1 : (Math.max(before, after - 2) + after) / 2
  }

  const forgetAllBut = (ids: ReadonlySet<string>) => {
    for (const id of [...emitted.keys()]) {
      if (ids.has(id)) continue
      emitted.delete(id)
      clientIds.delete(id)
      posted.get(id)?.(undefined)
    }
  }

  /** Resolves with the id of a message that has left. */
  const send = async (text: string, clientId: unknown) => {
    const id = await view.send(text)
    if (isEnded) throw new Error(ENDED)
    clientIds.set(id, clientId)
    return new Promise<string>((resolve, reject) => {
      posted.set(id, delivery => {
        const sendStatus = delivery && sendStatusOf(delivery)
        if (sendStatus === 'sending') return
        posted.delete(id)
        if (sendStatus === 'sent') resolve(id)
        else reject(new Error(isEnded ? ENDED : 'The message was not sent.'))
      })
      update()
      // It may have been emitted before.
      posted.get(id)?.(emitted.get(id)?.message.delivery)
    })
  }

  /** Rates a message, and echoes the activity, as WebChat expects it. */
  const rate = async (entities: readonly unknown[], clientActivityID: unknown) => {
    const { '@type': type, '@id': key = '' } = Object(entities[0]) as { '@type'?: string; '@id'?: string }
    const id = `${key}-${Date.now()}`
    await view.rate(key.slice(key.indexOf(' ') + 1), type === 'LikeAction' ? 'up' : 'down')
    activities.next({ ...activity('event', USER, id), channelData: { clientActivityID } })
    return id
  }

  const post = async ({ type, name, text, attachments = [], entities = [], channelData }: PostedActivity) => {
    const { clientActivityID } = Object(channelData) as { clientActivityID?: unknown }
    if (isEnded) throw new Error(ENDED)
    if (type === 'event' && name === RATING) return rate(entities, clientActivityID)
    if (type === 'message' && text && attachments.length === 0) return send(text, clientActivityID)
    throw new Error(`The service has no message for an activity of type ${type}${text ? ' with attachments' : ''}.`)
  }

  const stop = view.subscribe(update)
  return {
    activity$: {
      subscribe(observer) {
        update()
        const subscription = activities.subscribe(observer)
        // What was said before is replayed for each subscriber.
        if (!isEnded) for (const each of [...emitted.values()]) nextOf(observer)(activityOf(each))
        return subscription
      },
    },
    connectionStatus$: {
      subscribe(observer) {
        update()
        nextOf(observer)(isEnded ? 5 : status)
        return statuses.subscribe(observer)
      },
    },
    postActivity: activity => ({
      subscribe(observer) {
        let isUnsubscribed = false
        const { error, complete } = typeof observer === 'function' ? {} : observer
        post(activity).then(
          id => {
            if (isUnsubscribed) return
            nextOf(observer)(id)
            attempt(() => complete?.())
          },
          reason => {
            if (!isUnsubscribed) attempt(() => error?.(reason))
          },
        )
        return {
          unsubscribe() {
            isUnsubscribed = true
          },
        }
      },
    }),
    end() {
      if (isEnded) return
      isEnded = true
      stop()
      for (const settle of [...posted.values()]) settle(undefined)
      statuses.next(5)
      activities.complete()
      statuses.complete()
    },
  }
}

/** Whether a colleague has joined with a mark: by name, or without one by a text. */
function hasJoinedAt(messages: readonly ConversationMessage[], index: number): boolean {
  const { mark, authorName } = messages[index] as ConversationMessage
  if (mark === 'desk_left') return false
  const next = messages.slice(index + 1).find(({ author }) => author === 'colleague')
  return authorName !== undefined || (next !== undefined && !next.mark)
}

function activityOf({ message, place, clientId: clientActivityID, hasJoined, entities }: Emitted): Activity {
  const { id, author, authorName, time, content, options, canChoose, canRate, delivery, sources, input, mark } = message
  const isUser = author === 'user'
  const sendStatus = delivery && sendStatusOf(delivery)
  if (mark)
    return {
      ...activity('event', 'agent', id, time, authorName),
      ...(mark === 'desk_closed' || hasJoined
        ? { name: 'handoff.status', value: { state: mark === 'desk_closed' ? 'completed' : 'accepted' } }
        : { name: 'handoff.initiate' }),
      channelData: { message: withoutSession(message), 'webchat:sequence-id': place },
    }
  return {
    ...activity('message', isUser ? USER : 'agent', id, time, authorName),
    text: sources.reduce((text, source) => text + linkOf(source), content),
    textFormat: isUser ? 'plain' : 'markdown',
    ...(canChoose && {
      suggestedActions: {
        to: [],
        actions: options.map(option => ({ type: 'imBack', title: option, value: option })),
      },
    }),
    ...(input && { inputHint: 'expectingInput' as const }),
    ...(canRate && { entities }),
    channelData: {
      message: withoutSession(message),
      'webchat:sequence-id': place,
      ...(clientActivityID !== undefined && { clientActivityID }),
      ...(sendStatus && { 'webchat:send-status': sendStatus }),
    },
  }
}

/** A source as an item of a list in Markdown. */
function linkOf({ title, url }: ConversationMessage['sources'][number]): string {
  return url ? `\n\n- [${escaped(title)}](${escaped(url)})` : ''
}

/** Text whose characters end neither the text nor the address of a link in Markdown. */
function escaped(text: string): string {
  return text.replace(/[[\]()\\]/g, '\\$&')
}

function activity(type: Activity['type'], from: string, id: string, time = Date.now(), name?: string): Activity {
  const role = from === USER ? 'user' : 'bot'
  return { type, id, timestamp: new Date(time).toISOString(), from: { id: from, role, ...(name && { name }) } }
}

/** The thumbs of WebChat, which posts the chosen one back. */
function ratingOf(id: string): object {
  return {
    '@context': 'https://schema.org',
    '@id': '',
    '@type': 'Message',
    type: 'https://schema.org/Message',
    potentialAction: ['LikeAction', 'DislikeAction'].map(type => ({
      '@id': `${type} ${id}`,
      '@type': type,
      actionStatus: 'PotentialActionStatus',
    })),
  }
}

/**
 * The status for a state, after another status. A conversation that was left has ended, and before the first start nothing has
 * begun. A chat that reconnects stays online: WebChat would reject the message that is being sent, and take no other.
 */
function statusOf(state: ReturnType<ConversationView['getSnapshot']>['connection']['state'], before: number): number {
  if (state === 'connected') return 2
  if (state === 'failed') return 4
  if (state === 'closed') return 5
  if (state === 'idle') return before > 0 ? 5 : 0
  return before === 2 ? 2 : 1
}

/** A delivery in the words of WebChat; `unknown` counts as being sent, until a history tells. */
function sendStatusOf(delivery: string): 'sending' | 'sent' | 'send failed' {
  if (delivery === 'sent' || delivery === 'acknowledged') return 'sent'
  return delivery === 'failed' || delivery === 'cancelled' ? 'send failed' : 'sending'
}
