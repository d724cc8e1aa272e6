// A user interface in the terminal, drawn from one snapshot: messages, options, rating, unread count.
import assert from 'node:assert/strict'
import { AiAgent } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { createConversationView } from '@aiagent/view'

const service = await serveEmulator()
const agent = new AiAgent({ id: 'help', endpoint: service.url })
let drawn: string[] = []
const render = (lines: string[]) => {
  drawn = lines
}

// #region view
const view = createConversationView(agent)

function draw(): void {
  const { messages, isWorking, connection } = view.getSnapshot()
  const lines = messages.map(({ author, content }) => `${author}: ${content}`)
  if (isWorking) lines.push('The agent is writing …')
  if (connection.state !== 'connected') lines.push(`Connection: ${connection.state}`)
  render(lines)
}

view.subscribe(draw)
await view.start()
// #endregion

const shown = (isReady: () => boolean) =>
  new Promise<void>(resolve => {
    const stop = view.subscribe(() => {
      if (!isReady()) return
      stop()
      resolve()
    })
  })

// #region actions
const asked = shown(() => view.getSnapshot().messages.some(message => message.canChoose))
await view.send('How do I reset my router?')
await asked

const { messages } = view.getSnapshot()
const answer = messages.find(message => message.canRate)
const question = messages.find(message => message.canChoose)
assert.equal(answer?.sources[0]?.title, 'How to reset your router')
await view.rate(answer.id, 'up')
await view.choose(question?.id ?? '', question?.options[0] ?? '')
assert.equal(view.getSnapshot().messages.find(message => message.id === question?.id)?.canChoose, false)
// #endregion

await Promise.resolve()
assert.equal(drawn[0], 'user: How do I reset my router?')
view.markRead()
assert.equal(view.getSnapshot().unread, 0)
assert.match(await view.export('text'), /How do I reset my router\?/)

await view.destroy()
await agent.destroy()
await service.close()
