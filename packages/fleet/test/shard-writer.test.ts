import { describe, expect, it } from 'vitest'
import { ShardKeys } from '../src/keys.ts'
import type { Connection } from '../src/redis.ts'
import { eventOperation, ShardWriter } from '../src/shard-writer.ts'

/** A writer whose commits are kept. */
function create() {
  const commits: unknown[][] = []
  const evalsha = async (_hash: string, _keys: number, ...rest: unknown[]) => {
    commits.push(JSON.parse(String(rest.at(-1))))
    return 1
  }
  const writer = new ShardWriter({
    connection: { evalsha } as unknown as Connection,
    keys: new ShardKeys('test', 0),
    worker: 'worker',
    number: 1,
    keepEvents: 10,
    isHeld: () => true,
    onRefused: () => {},
    onCommit: () => {},
  })
  return { writer, commits }
}

describe('the writer of a shard', () => {
  it('[REL-139] stores the end of a message and its event in one step, however much waits', async () => {
    const { writer, commits } = create()
    // Sizes that no limit of a commit is a multiple of.
    for (let message = 0; message < 997; message++)
      writer.add(
        ['done', `${message}`],
        ['settle', `${message}`, 'a'],
        eventOperation('deliveryUpdate', { conversationId: 'a', id: `${message}`, state: 'acknowledged' }),
      )
    expect(await writer.flush()).toBe(true)
    expect(commits.length).toBeGreaterThan(1)
    for (const commit of commits) expect(commit.length % 3).toBe(0)
    expect(commits.flat()).toHaveLength(2_991)
  })
})
