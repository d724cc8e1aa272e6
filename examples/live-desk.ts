// A colleague takes over in the same list: a live desk of the host, here one that plays both sides.
import assert from 'node:assert/strict'
import { AiAgent } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { createConversationView, type LiveDesk, type OpenLiveDesk } from '@aiagent/view'

const service = await serveEmulator({
  reply: ({ text, escalation }) =>
    text === 'A person, please'
      ? {
          content: 'A colleague takes over.',
          messageData: { escalation: true, escalationData: { live: true, ...escalation } },
        }
      : { content: `You said: ${text}` },
})
const agent = new AiAgent({ id: 'help', endpoint: service.url })

// #region desk
/** A chat that answers each text once, and ends when the user says good bye. */
const openDesk: OpenLiveDesk = (_escalation, { signal }) => {
  const texts = new TransformStream<string, string>()
  const writer = texts.writable.getWriter()
  let leave = () => {}
  const ended = new Promise<void>(resolve => {
    leave = resolve
  })
  const desk: LiveDesk = {
    name: 'Support',
    send: text => {
      void writer.write(`Support heard: ${text}`).catch(() => {})
      if (text === 'Good bye') leave()
    },
    messages: texts.readable,
    ended,
    end: () => leave(),
  }
  signal.addEventListener('abort', () => void writer.close().catch(() => {}))
  return desk
}

const view = createConversationView(agent, { escalate: openDesk })
// #endregion

const shown = (isReady: () => boolean) =>
  new Promise<void>(resolve => {
    const stop = view.subscribe(() => {
      if (!isReady()) return
      stop()
      resolve()
    })
  })

await view.start()
const opened = shown(() => view.getSnapshot().desk?.name === 'Support')
await view.send('A person, please')
await opened
const answered = shown(() => view.getSnapshot().messages.at(-1)?.content === 'Support heard: Good day')
await view.send('Good day')
await answered
const closed = shown(() => !view.getSnapshot().desk)
await view.send('Good bye')
await closed
assert.deepEqual(
  view.getSnapshot().messages.map(({ author, mark, content }) => `${author}: ${mark ?? content}`),
  [
    'user: A person, please',
    'agent: A colleague takes over.',
    'colleague: desk_opened',
    'user: Good day',
    'colleague: Support heard: Good day',
    'user: Good bye',
    'colleague: Support heard: Good bye',
    'colleague: desk_closed',
  ],
)

await view.destroy()
await agent.destroy()
await service.close()
