import type { AiAgent } from '@aiagent/client'
import { assertType, describe, expectTypeOf, it } from 'vitest'
import {
  type ConversationChoice,
  type ConversationConnection,
  type ConversationConnectionState,
  type ConversationDesk,
  type ConversationError,
  type ConversationErrorCode,
  type ConversationEscalation,
  type ConversationFormat,
  type ConversationMessage,
  type ConversationRemedy,
  type ConversationSnapshot,
  type ConversationSource,
  type ConversationView,
  type ConversationViewOptions,
  createConversationView,
  type LiveDesk,
  type LiveDeskMessage,
  type LiveDeskOptions,
  type OpenLiveDesk,
  type TextRange,
  type ViewPlatform,
} from './index.ts'

declare const agent: AiAgent
declare const message: ConversationMessage
declare const snapshot: ConversationSnapshot

describe('a view', () => {
  it('ConversationView, ConversationSnapshot, ConversationMessage: what a user interface renders', () => {
    const view = createConversationView(agent)
    assertType<ConversationView>(view)
    // @ts-expect-error an agent is not a view
    assertType<ConversationView>(agent)
    assertType<ConversationSnapshot>(view.getSnapshot())
    // @ts-expect-error the messages are missing
    assertType<ConversationSnapshot>({ isWorking: false })
    assertType<readonly ConversationMessage[]>(snapshot.messages)
    // @ts-expect-error a message has an author
    assertType<ConversationMessage>({ id: '1', content: 'hello' })
    // @ts-expect-error a snapshot cannot be changed
    snapshot.draft = 'x'
    expectTypeOf(view.choose).returns.resolves.toBeString()
  })

  it('ConversationViewOptions, ViewPlatform: what can be replaced', () => {
    assertType<ConversationViewOptions>({ onLogin: () => {}, platform: { isOnline: () => true } })
    // @ts-expect-error unknown option
    assertType<ConversationViewOptions>({ login: () => {} })
    assertType<ViewPlatform['setTimer']>(() => () => {})
    // @ts-expect-error a timer has an undo
    assertType<ViewPlatform['setTimer']>(() => 5)
  })

  it('ConversationChoice: what can be selected at a gate', () => {
    assertType<ConversationChoice>({ id: 1 })
    // @ts-expect-error an id alone is not an item of a list
    assertType<ConversationChoice>(1)
  })

  it('ConversationConnection, ConversationConnectionState: the state of the connection', () => {
    assertType<ConversationConnectionState>('reconnecting')
    // @ts-expect-error states are lower case
    assertType<ConversationConnectionState>('RECONNECTING')
    assertType<ConversationConnection>(snapshot.connection)
    // @ts-expect-error the remedy is missing
    assertType<ConversationConnection>({ state: 'idle', retryAt: undefined, isOffline: false, isSilent: false })
  })

  it('ConversationError, ConversationErrorCode, ConversationRemedy: what is wrong, and what helps', () => {
    assertType<ConversationErrorCode>('login_required')
    // @ts-expect-error an unknown code
    assertType<ConversationErrorCode>('trouble')
    assertType<ConversationRemedy>('login')
    // @ts-expect-error unknown remedy
    assertType<ConversationRemedy>('pray')
    assertType<ConversationError>({ code: 'action_failed', error: new Error('x'), message: 'x', remedy: 'none' })
    // @ts-expect-error the code is missing
    assertType<ConversationError>({ error: new Error('x'), message: 'x', remedy: 'none' })
  })

  it('ConversationEscalation, ConversationSource, TextRange: values of a message', () => {
    assertType<ConversationEscalation>({ type: 'live', url: undefined, options: [] })
    // @ts-expect-error unknown type
    assertType<ConversationEscalation>({ type: 'fax', url: undefined, options: [] })
    assertType<readonly ConversationSource[]>(message.sources)
    // @ts-expect-error a source has a title
    assertType<ConversationSource>({ url: 'https://docs.example.test' })
    assertType<TextRange>({ start: 0, end: 2 })
    // @ts-expect-error positions are numbers
    assertType<TextRange>({ start: '0', end: 2 })
  })

  it('OpenLiveDesk, LiveDesk, LiveDeskMessage, LiveDeskOptions, ConversationDesk: a chat with a colleague', () => {
    assertType<OpenLiveDesk>(() => undefined)
    // @ts-expect-error a desk is there at once, and connects later
    assertType<OpenLiveDesk>(async () => undefined)
    assertType<LiveDesk>({
      send: async text => void text,
      messages: (async function* () {
        yield 'Good day.'
      })(),
      ended: Promise.resolve(),
      end: () => {},
    })
    // @ts-expect-error the messages are missing
    assertType<LiveDesk>({ send: () => {}, ended: Promise.resolve(), end: () => {} })
    assertType<LiveDeskMessage>({ text: 'Good day.', id: '1', time: 5 })
    // @ts-expect-error a time is a number
    assertType<LiveDeskMessage>({ time: 'now' })
    assertType<LiveDeskOptions>({ handle: '1', signal: new AbortController().signal })
    // @ts-expect-error the signal is missing
    assertType<LiveDeskOptions>({ handle: '1' })
    assertType<ConversationDesk | undefined>(snapshot.desk)
    // @ts-expect-error a state of the desk says where it is open
    assertType<ConversationDesk>({ name: 'Support', isTyping: false })
  })

  it('ConversationFormat: forms of the export', () => {
    assertType<ConversationFormat>('markdown')
    // @ts-expect-error not offered
    assertType<ConversationFormat>('html')
  })
})
