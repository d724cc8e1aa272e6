/**
 * Holds a short conversation with the emulator's help agent and leaves.
 *
 * @param {typeof import('@aiagent/client').AiAgent} AiAgent as the module kind under test brings it
 * @param {string} endpoint
 * @returns {Promise<string>} what the agent said
 */
export async function conversation(AiAgent, endpoint) {
  const agent = new AiAgent({ id: 'help', endpoint, enableLogging: false })
  const answer = new Promise(resolve => {
    agent.on('transcriptUpdate', ({ payload: { entry } }) => {
      if (/factory|reset/i.test(entry.content) && entry.content !== QUESTION) resolve(entry.content)
    })
  })
  await agent.initialize()
  await agent.connect()
  await agent.send(QUESTION)
  const said = await answer
  await agent.disconnect()
  return said
}

const QUESTION = 'How do I reset my router?'
