import { createEmulator } from '@aiagent/emulator'
import type { FleetEvents } from '@aiagent/fleet'
import { describe, expect, it } from 'vitest'
import { type Account, judge } from './judge.ts'

const answer = (conversationId: string, text: string): FleetEvents['agentMessage'] => ({
  conversationId,
  message: { content: `re: ${text}` },
})

describe('the judge of a fleet', () => {
  it('finds each violation', () => {
    const emulator = createEmulator()
    const [agent] = emulator.world.agents.values()
    if (!agent) throw new Error('The world has no agent.')
    const start = { id: 's1', agent, createdAt: 0, subject: 'x', context: {}, contextIssues: [] }
    const record = emulator.world.addSession(start)
    for (const content of ['a#1', 'a#2', 'a#2', 'a#3'])
      record.accepted.add({ at: 1, message: { persona: 'customer', role: 'human', content }, duplicate: false })
    const account: Account = {
      sent: new Map(['a#1', 'a#2', 'a#3', 'a#4', 'a#5'].map(text => [text, text])),
      updates: (['a#1', 'a#2', 'a#4'] as const).map((id, index) => ({
        conversationId: 'a',
        id,
        state: index === 2 ? 'sent' : 'acknowledged',
      })),
      said: [answer('a', 'a#1'), answer('a', 'a#2'), answer('a', 'a#2'), answer('b', 'a#2')],
    }
    const frame = { shard: 0, number: 1, sessionId: 's1' }
    const leases = [
      { at: 10, shard: 0, number: 1 },
      { at: 20, shard: 0, number: 2 },
    ]
    const { violations } = judge(
      account,
      emulator,
      [
        { ...frame, at: 19 },
        { ...frame, at: 21 },
      ],
      leases,
    )
    emulator.close()
    expect(violations).toEqual({
      'lost without a word': 2,
      'acknowledged or sent, but not at the service': 1,
      'doubled at the service': 1,
      'answer not told': 1,
      'answer told twice': 1,
      'told in another conversation': 1,
      'frame without the lease': 1,
    })
  })
})
