// The desk of the emulator: a view hands over, and the test answers as the colleague.
import assert from 'node:assert/strict'
import { AiAgent } from '@aiagent/client'
import { createEmulator } from '@aiagent/emulator'
import { emulatorDesk } from '@aiagent/emulator/desk'
import { createConversationView } from '@aiagent/view'

const service = createEmulator({
  reply: ({ escalation }) => ({
    content: 'A colleague takes over.',
    messageData: { escalation: true, escalationData: { live: true, ...escalation } },
  }),
})
const { fetch, WebSocket, origin } = service
const agent = new AiAgent({ id: 'help', endpoint: origin }, { fetch, WebSocket })

// #region desk
const view = createConversationView(agent, { escalate: emulatorDesk({ url: origin, fetch }) })
await view.start()
await view.send('A person, please')

const chat = await service.desk.join('Support') // the chat that has waited longest, or the next one
chat.setTyping(true)
chat.say('Good day, how can I help?')
await shown(({ messages }) => messages.at(-1)?.content === 'Good day, how can I help?')
await view.send('My router is broken')
assert.equal(await chat.nextMessage(), 'My router is broken')
chat.end()
await shown(({ desk }) => desk === undefined)
// #endregion

assert.deepEqual(
  view.getSnapshot().messages.map(({ author, mark, content }) => `${author}: ${mark ?? content}`),
  [
    'user: A person, please',
    'agent: A colleague takes over.',
    'colleague: desk_opened',
    'colleague: Good day, how can I help?',
    'user: My router is broken',
    'colleague: desk_closed',
  ],
)

/** Resolves when the view shows what is awaited. */
async function shown(isReady: (snapshot: ReturnType<typeof view.getSnapshot>) => boolean): Promise<void> {
  if (isReady(view.getSnapshot())) return
  await new Promise<void>(resolve => {
    const stop = view.subscribe(() => {
      if (!isReady(view.getSnapshot())) return
      stop()
      resolve()
    })
  })
}

await view.destroy()
await agent.destroy()
service.close()
