// A live desk over the SDK of a vendor: the recipe, with a vendor that this file plays.
import assert from 'node:assert/strict'
import { AiAgent } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { createConversationView, type LiveDesk, type LiveDeskMessage, type OpenLiveDesk } from '@aiagent/view'

// #region desk
/** What the recipe assumes of the SDK. */
interface VendorChat {
  readonly id: string
  onMessage(
    listener: (message: { id: string; text: string; from: 'customer' | 'staff'; staffName: string }) => void,
  ): void
  onTyping(listener: (isTyping: boolean) => void): void
  onClosed(listener: () => void): void
  sendMessage(text: string): Promise<void>
  close(): Promise<void>
  disconnect(): void
}
interface Vendor {
  startChat(): Promise<VendorChat>
  resumeChat(id: string): Promise<VendorChat>
}

const openDesk: OpenLiveDesk = (_escalation, { handle, signal }) => {
  const connecting = handle === undefined ? vendor.startChat() : vendor.resumeChat(handle)
  const items = new TransformStream<LiveDeskMessage, LiveDeskMessage>()
  const writer = items.writable.getWriter()
  const add = (item: LiveDeskMessage) => void writer.write(item).catch(() => {})
  const desk: LiveDesk = {
    name: undefined,
    typing: false,
    handle,
    messages: items.readable,
    send: async (text: string) => (await connecting).sendMessage(text),
    end: async () => (await connecting).close(),
    ended: connecting.then(chat => {
      Object.assign(desk, { handle: chat.id })
      chat.onTyping(typing => {
        Object.assign(desk, { typing })
        add({})
      })
      chat.onMessage(({ id, text, from, staffName }) => {
        Object.assign(desk, { name: staffName, typing: false })
        // What the user has written is in the list already.
        if (from === 'staff') add({ id, text })
      })
      add({})
      signal.addEventListener('abort', () => chat.disconnect())
      if (signal.aborted) chat.disconnect()
      return new Promise<void>(resolve => chat.onClosed(resolve))
    }),
  }
  signal.addEventListener('abort', () => void writer.close().catch(() => {}))
  return desk
}
// #endregion

let close = () => {}
const vendor: Vendor = {
  async startChat() {
    let answer: Parameters<VendorChat['onMessage']>[0] = () => {}
    return {
      id: 'chat 1',
      onMessage: listener => {
        answer = listener
      },
      onTyping: () => {},
      onClosed: listener => {
        close = listener
      },
      sendMessage: async text => {
        answer({ id: '1', text, from: 'customer', staffName: 'Support' })
        answer({ id: '2', text: `You wrote: ${text}`, from: 'staff', staffName: 'Support' })
      },
      close: async () => close(),
      disconnect: () => {},
    }
  },
  resumeChat: () => vendor.startChat(),
}

const service = await serveEmulator({
  reply: ({ escalation }) => ({
    content: 'A colleague takes over.',
    messageData: { escalation: true, escalationData: { live: true, ...escalation } },
  }),
})
const agent = new AiAgent({ id: 'help', endpoint: service.url })
const view = createConversationView(agent, { escalate: openDesk })
const shown = (isReady: () => boolean) =>
  new Promise<void>(resolve => {
    const stop = view.subscribe(() => {
      if (!isReady()) return
      stop()
      resolve()
    })
  })

await view.start()
const opened = shown(() => view.getSnapshot().desk !== undefined)
await view.send('A person, please')
await opened
const answered = shown(() => view.getSnapshot().messages.at(-1)?.content === 'You wrote: Good day')
await view.send('Good day')
await answered
assert.deepEqual(view.getSnapshot().desk, {
  isElsewhere: false,
  waitingSince: undefined,
  name: 'Support',
  isTyping: false,
})
const closed = shown(() => !view.getSnapshot().desk)
close()
await closed
assert.equal(view.getSnapshot().error, undefined)

await view.destroy()
await agent.destroy()
await service.close()
