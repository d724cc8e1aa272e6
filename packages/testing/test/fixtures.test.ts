import { AiAgent } from '@aiagent/client'
import { nextEvent, serviceFixtures } from '@aiagent/testing'
import { servedServiceFixtures } from '@aiagent/testing/playwright'
import { describe, expect, test } from 'vitest'

const inProcess = test.extend(serviceFixtures())
const served = test.extend(servedServiceFixtures())

describe('the fixtures of a service', () => {
  inProcess('give each test a service in this process, whose agent repeats what it hears', async ({ service }) => {
    const agent = new AiAgent({ id: 'help', endpoint: service.endpoint }, service.environment)
    expect(service.sessionId()).toBeUndefined()
    expect(service.userTexts()).toEqual([])
    await agent.initialize()
    await agent.connect()
    const answer = nextEvent(agent, 'agentMessage')
    await agent.send('hello')
    expect((await answer).payload.message.content).toBe('You said: hello')
    expect(service.userTexts()).toEqual(['hello'])
    service.answerWith('Closed today.')
    expect((await agent.ask('Are you open?')).content).toBe('Closed today.')
    service.answerWith(({ text }) => ({ content: text.toUpperCase() }))
    expect((await agent.ask('hello')).content).toBe('HELLO')
    service.answerWith(undefined)
    expect((await agent.ask('hello')).content).toBe('You said: hello')
    await agent.destroy()
  })

  inProcess('give the next test another one', async ({ service }) => {
    expect(service.emulator.world.records.size).toBe(0)
  })

  served('serve a service on a port', async ({ service }) => {
    const agent = new AiAgent({ id: 'help', endpoint: service.endpoint })
    await agent.initialize()
    await agent.connect()
    expect((await agent.ask('hello')).content).toBe('You said: hello')
    expect(new URL(service.endpoint).port).toBe(String(service.port))
    await agent.destroy()
  })

  test('shut the service down after a test that fails', async () => {
    let endpoint = ''
    const { service } = servedServiceFixtures()
    const failing = service({}, async given => {
      endpoint = given.endpoint
      throw new Error('the test failed')
    })
    await expect(failing).rejects.toThrow('the test failed')
    await expect(fetch(endpoint)).rejects.toThrow()
  })

  test('name the event that did not come', async () => {
    const { service } = serviceFixtures()
    await service({}, async ({ endpoint, environment }) => {
      const agent = new AiAgent({ id: 'help', endpoint }, environment)
      await expect(nextEvent(agent, 'agentMessage', { timeoutMs: 10 })).rejects.toThrow(
        "No 'agentMessage' within 10 ms",
      )
    })
  })
})
