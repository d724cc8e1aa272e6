import type { Context } from 'hono'
import * as v from 'valibot'
import { ConversationSchema, type Desk } from '../desk/desk.ts'
import type { DeskChat } from '../desk/desk-chat.ts'
import type { PendingWaits } from '../faults/pending-waits.ts'
import type { EmulatorSettings } from '../settings.ts'
import { RestError } from './error.ts'
import { requestBody } from './request-body.ts'
import { param, type RouteTable } from './route-table.ts'

interface DeskRouteParts {
  desk: Desk
  settings: EmulatorSettings
  waits: PendingWaits
}

/** A handle that cannot be guessed: it proves that a request comes from the customer of the chat. */
const HANDLE = /^[\w-]{32,200}$/
const OpeningSchema = v.object({ conversation: v.optional(ConversationSchema, []) })
const MessageSchema = v.object({ id: v.pipe(v.string(), v.minLength(1)), text: v.string() })

/** What a customer's page may do at the desk: the transport of `emulatorDesk()`. The handle replaces a token. */
export function addDeskRoutes({ at }: Pick<RouteTable, 'at'>, { desk, settings, waits }: DeskRouteParts): void {
  const chatOf = (c: Context): DeskChat => {
    const chat = desk.find(param(c, 'handle'))
    if (chat) return chat
    throw new RestError(404, '006', 'There is no such chat with a colleague.')
  }

  at('/live-desk/:handle', {
    PUT: c => {
      const handle = param(c, 'handle')
      if (!HANDLE.test(handle)) throw new RestError(400, '006', 'The handle needs at least 32 letters or digits.')
      if (settings.desk === 'closed' && !desk.find(handle)) throw new RestError(409, '006', 'The desk is closed.')
      const body = requestBody(c)
      const read = v.safeParse(OpeningSchema, body ? parsed(body) : {})
      if (!read.success)
        throw new RestError(400, '001', 'The body must be { "conversation": [{ "from": …, "text": …, "at": … }] }.')
      if (!desk.open(handle, read.output.conversation))
        throw new RestError(409, '006', 'Too many chats wait for a colleague.')
      return c.json({})
    },
    // Answered once the state differs from the one that the page has seen.
    GET: async c => {
      const seen = c.req.query('seen')
      while (stateOf(chatOf(c)) === seen) {
        const { signal } = c.req.raw
        // No client reads the answer to a request that it has aborted.
        if ((await waits.untilCalled(desk.listeners, signal)) === 'gone') return c.body(null, 499 as 400)
      }
      const chat = chatOf(c)
      const { messages, name, isTyping } = chat
      return c.json(
        {
          state: stateOf(chat),
          name,
          isTyping,
          hasEnded: chat.state === 'ended',
          messages: messages.filter(({ from }) => from === 'colleague').slice(Number(c.req.query('after')) || 0),
        },
        200,
        { 'Cache-Control': 'no-store' },
      )
    },
  })
  at('/live-desk/:handle/messages', {
    POST: c => {
      const chat = chatOf(c)
      const read = v.safeParse(MessageSchema, parsed(requestBody(c)))
      if (!read.success) throw new RestError(400, '001', 'The body must be { "id": …, "text": … }.')
      if (chat.state === 'ended') throw new RestError(410, '006', 'The chat has ended.')
      if (!chat.hasRoomFor(read.output.id, read.output.text))
        throw new RestError(413, '006', 'The chat is full. Open another one.')
      chat.receive(read.output.id, read.output.text)
      return c.json({})
    },
  })
  at('/live-desk/:handle/end', {
    POST: c => {
      chatOf(c).end()
      return c.json({})
    },
  })
}

/** Changes with everything that a customer's page shows. */
const stateOf = ({ messages, name = '', isTyping, state }: DeskChat) =>
  `${messages.filter(({ from }) => from === 'colleague').length} ${state} ${isTyping} ${name}`

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
