const { AiAgent } = require('@aiagent/client')

test('an agent is created', async () => {
  const agent = new AiAgent({ id: 'help', endpoint: 'https://agents.example.test', enableLogging: false })
  expect(agent.getState()).toBe('IDLE')
  await agent.destroy()
})
