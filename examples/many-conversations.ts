// A server that answers questions of many users: an agent for each conversation, released when the conversation ends.
import assert from 'node:assert/strict'
import { AiAgent } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'

const service = await serveEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }) })

// #region answer
async function answerQuestion(question: string): Promise<string> {
  // Calls agent.destroy() at the end of the function, also after an error.
  await using agent = new AiAgent({ id: 'help', endpoint: service.url, autoConnect: true })
  await agent.initialize()
  const answer = await agent.ask(question)
  return answer.content ?? ''
}
// #endregion

// #region finally
async function answerInJavaScript(question: string): Promise<string> {
  const agent = new AiAgent({ id: 'help', endpoint: service.url, autoConnect: true })
  try {
    await agent.initialize()
    const answer = await agent.ask(question)
    return answer.content ?? ''
  } finally {
    await agent.destroy()
  }
}
// #endregion

const answers = await Promise.all(['one', 'two', 'three'].map(answerQuestion))
assert.deepEqual(answers, ['You said: one', 'You said: two', 'You said: three'])
assert.equal(await answerInJavaScript('four'), 'You said: four')
await service.close()
