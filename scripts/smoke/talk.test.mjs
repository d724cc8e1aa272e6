import { AiAgent } from '@aiagent/client'
import { createTestService } from '@aiagent/testing'

test('a question is answered', async () => {
  const service = createTestService()
  const agent = new AiAgent({ id: 'help', endpoint: service.endpoint, autoConnect: true }, service.environment)
  await agent.initialize()
  service.answerWith('Hold the button for ten seconds.')
  expect((await agent.ask('How do I reset my router?')).content).toBe('Hold the button for ten seconds.')
  await agent.destroy()
})
