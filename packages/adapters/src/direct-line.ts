import type { ConversationMessage, ConversationView } from '@aiagent/client/view'

/** Receives the values of an {@link ObservableLike}. */
export interface ObserverLike<T> {
  next?: (value: T) => void
  error?: (error: unknown) => void
  complete?: () => void
}

/** An observable as DirectLine clients use it. */
export interface ObservableLike<T> {
  subscribe(observer: ObserverLike<T> | ((value: T) => void)): { unsubscribe(): void }
}

/** An activity of the Bot Framework, with the fields that this adapter writes. */
export interface Activity {
  readonly type: 'message' | 'typing'
  readonly id: string
  readonly timestamp: string
  readonly from: { readonly id: string; readonly role: 'bot' | 'user'; readonly name?: string }
  readonly text?: string
  readonly textFormat?: 'markdown' | 'plain'
  readonly suggestedActions?: { readonly to: string[]; readonly actions: readonly object[] }
  readonly channelData?: Readonly<Record<string, unknown>>
}

/** What Bot Framework WebChat takes as `directLine`. */
export interface DirectLineLike {
  readonly activity$: ObservableLike<Activity>
  /** 0 uninitialized, 1 connecting, 2 online, 3 expired token, 4 failed to connect, 5 ended. */
  readonly connectionStatus$: ObservableLike<number>
  /** Sends a message of the user. Emits its id. Activities that the service has no message for are an error. */
  postActivity(activity: {
    readonly type: string
    readonly text?: string
    readonly channelData?: object
  }): ObservableLike<string>
  /** Ends the object; the agent lives on. */
  end(): void
}

const USER = 'user'
const SEND_STATUS: Readonly<Record<string, string>> = {
  queued: 'sending',
  sending: 'sending',
  failed: 'send failed',
  cancelled: 'send failed',
}

/** The conversation as a DirectLine connection, so that Bot Framework WebChat renders it. Start the view yourself. */
export function createDirectLine(view: ConversationView): DirectLineLike {
  const activities = createSubject<Activity>()
  const statuses = createSubject<number>()
  /** The message that each activity was last emitted for. */
  const emitted = new Map<string, ConversationMessage>()
  /** Client activity ids of WebChat, by message: it recognizes its own activities by them. */
  const clientIds = new Map<string, unknown>()
  let status = -1
  let isTyping = false

  const update = () => {
    const { connection, messages, isWorking, needsLogin } = view.getSnapshot()
    const next = needsLogin ? 3 : statusOf(connection.state)
    if (next !== status) statuses.next((status = next))
    for (const message of messages) {
      if (emitted.get(message.id) === message) continue
      emitted.set(message.id, message)
      activities.next(activityOf(message, clientIds.get(message.id)))
    }
    if (isWorking && !isTyping) activities.next(typing())
    isTyping = isWorking
  }
  const stop = view.subscribe(update)

  return {
    activity$: {
      subscribe(observer) {
        const subscription = activities.subscribe(observer)
        // What was said before is replayed for each subscriber.
        for (const message of emitted.values()) nextOf(observer)(activityOf(message, clientIds.get(message.id)))
        update()
        return subscription
      },
    },
    connectionStatus$: {
      subscribe(observer) {
        const subscription = statuses.subscribe(observer)
        if (status >= 0) nextOf(observer)(status)
        update()
        return subscription
      },
    },
    postActivity: ({ type, text, channelData }) => ({
      subscribe(observer) {
        const { error, complete } = typeof observer === 'function' ? {} : observer
        const post = async () => {
          if (type !== 'message' || !text)
            throw new Error(`The service has no message for an activity of type ${type}.`)
          return view.send(text)
        }
        post().then(
          id => {
            clientIds.set(id, (channelData as { clientActivityID?: unknown } | undefined)?.clientActivityID)
            // Emitted before its id was known here: once more, with the id that WebChat knows it by.
            emitted.delete(id)
            update()
            nextOf(observer)(id)
            complete?.()
          },
          reason => error?.(reason),
        )
        return { unsubscribe: () => {} }
      },
    }),
    end() {
      stop()
      statuses.next(5)
      activities.complete()
      statuses.complete()
    },
  }
}

function activityOf(message: ConversationMessage, clientActivityID: unknown): Activity {
  const { id, author, authorName, time, content, options, canChoose, delivery, sources } = message
  const isUser = author === 'user'
  return {
    type: 'message',
    id,
    timestamp: new Date(time).toISOString(),
    from: { id: isUser ? USER : 'agent', role: isUser ? 'user' : 'bot', ...(authorName && { name: authorName }) },
    text: sources.reduce((text, { title, url }) => (url ? `${text}\n\n- [${title}](${url})` : text), content),
    textFormat: isUser ? 'plain' : 'markdown',
    ...(canChoose && {
      suggestedActions: {
        to: [USER],
        actions: options.map(option => ({ type: 'imBack', title: option, value: option })),
      },
    }),
    channelData: {
      message,
      ...(clientActivityID !== undefined && { clientActivityID }),
      ...(delivery && {
        'webchat:send-status': SEND_STATUS[delivery] ?? 'sent',
        state: SEND_STATUS[delivery] ?? 'sent',
      }),
    },
  }
}

function typing(): Activity {
  const timestamp = new Date().toISOString()
  return { type: 'typing', id: `typing-${timestamp}`, timestamp, from: { id: 'agent', role: 'bot' } }
}

function statusOf(state: ReturnType<ConversationView['getSnapshot']>['connection']['state']): number {
  if (state === 'connected') return 2
  if (state === 'failed') return 4
  if (state === 'closed') return 5
  return state === 'idle' ? 0 : 1
}

function nextOf<T>(observer: ObserverLike<T> | ((value: T) => void)): (value: T) => void {
  return value => (typeof observer === 'function' ? observer(value) : observer.next?.(value))
}

/** Values for any number of observers. */
function createSubject<T>() {
  const observers = new Set<ObserverLike<T> | ((value: T) => void)>()
  return {
    subscribe(observer: ObserverLike<T> | ((value: T) => void)) {
      observers.add(observer)
      return { unsubscribe: () => void observers.delete(observer) }
    },
    next(value: T) {
      for (const observer of [...observers]) nextOf(observer)(value)
    },
    complete() {
      for (const observer of [...observers]) if (typeof observer !== 'function') observer.complete?.()
      observers.clear()
    },
  }
}
