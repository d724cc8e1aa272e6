/**
 * Holds a short conversation with the emulator's help agent and leaves.
 *
 * @param {typeof import('@aiagent/client')} client as the module kind under test brings it
 * @param {string} endpoint
 * @returns {Promise<string>} what the agent said
 */
export async function conversation({ AiAgent, Message }, endpoint) {
  const agent = new AiAgent({ id: 'help', endpoint, enableLogging: false })
  const answer = new Promise((resolve, reject) => {
    agent.on('agentMessage', ({ payload }) => resolve(payload.message.content))
    agent.on('error', ({ payload }) => reject(payload.error))
  })
  let received
  agent.on('message', ({ payload }) => {
    received = payload.data
  })
  await agent.initialize()
  await agent.connect()
  await agent.send('How do I reset my router?')
  const said = await answer
  await agent.disconnect()
  if (!(received instanceof Message)) throw new Error('The agent uses another class Message than the exported one.')
  if (!/reset/i.test(said)) throw new Error(`The agent said something else: ${said}`)
  return said
}
