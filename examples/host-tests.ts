// A host's own test suite: a service for each test, a fault, and an audit of privacy. Runs with the test runner of Node;
// vitest and Playwright use the fixtures of the same package.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AiAgent } from '@aiagent/client'
import { assertNoLeaks, auditPrivacy, createTestService, nextEvent } from '@aiagent/testing'

/** What the host under test does with an agent. */
class SupportChat {
  readonly lines: string[] = []
  readonly agent: AiAgent

  constructor(agent: AiAgent) {
    this.agent = agent
    agent.on('agentMessage', ({ payload }) => void this.lines.push(payload.message.content ?? ''))
    agent.on('stateChanged', ({ payload }) => void this.lines.push(`[${payload.state.toLowerCase()}]`))
  }

  async open(): Promise<void> {
    await this.agent.initialize()
    await this.agent.connect()
  }
}

describe('the support chat', () => {
  it('shows the answers, also after a lost connection', async () => {
    // #region service
    await using service = createTestService()
    const { endpoint, environment, emulator } = service
    await using agent = new AiAgent({ id: 'help', endpoint, baseReconnectDelay: 10 }, environment)
    const chat = new SupportChat(agent)
    await chat.open()
    service.answerWith('Hold the button for ten seconds.')
    const answer = nextEvent(agent, 'agentMessage')
    await agent.send('How do I reset my router?')
    await answer
    // #endregion
    const back = nextEvent(agent, 'connected')
    emulator.faults.add({ kind: 'drop' })
    await back
    assert.deepEqual(service.userTexts(), ['How do I reset my router?'])
    assert.deepEqual(chat.lines, [
      '[connecting]',
      '[connected]',
      'Hold the button for ten seconds.',
      '[reconnecting]',
      '[connecting]',
      '[connected]',
    ])
  })

  it('leaks no private data', async () => {
    // #region audit
    const report = await auditPrivacy(({ config, environment }) => ({
      agent: new SupportChat(new AiAgent(config, environment)).agent,
    }))
    assertNoLeaks(report)
    // #endregion
  })

  it('would be caught if it did', async () => {
    const report = await auditPrivacy(({ config, environment }) => {
      const { agent } = new SupportChat(new AiAgent(config, environment))
      const drafts: string[] = []
      const send = (text: string) => {
        drafts.push(text)
        return agent.send(text)
      }
      return { agent, send, sinks: { drafts: () => drafts } }
    })
    assert.throws(() => assertNoLeaks(report), /the card of the message is in drafts/)
  })
})
