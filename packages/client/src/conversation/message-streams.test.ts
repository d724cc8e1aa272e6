import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Message } from '../log/message.ts'
import { MessageStreams } from './message-streams.ts'

const said = (content: string) => new Message('agent', 'customer support agent', content)

/** The content of what an iterator gives, or 'over'. */
async function pull(stream: AsyncIterableIterator<Message>): Promise<string | undefined> {
  const { done, value } = await stream.next()
  return done ? 'over' : value.content
}

/** How many listeners a signal has. */
function counting(signal: AbortSignal): () => number {
  let count = 0
  const { addEventListener: add, removeEventListener: remove } = signal
  signal.addEventListener = (...rest: Parameters<typeof add>) => {
    count++
    add.apply(signal, rest)
  }
  signal.removeEventListener = (...rest: Parameters<typeof remove>) => {
    count--
    remove.apply(signal, rest)
  }
  return () => count
}

describe('MessageStreams', () => {
  it("gives the agent's messages from the call on, also those that came before the first pull", async () => {
    const streams = new MessageStreams()
    streams.push(said('before'))
    const stream = streams.open()
    streams.push(said('one'))
    streams.push(new Message('system', 'heartbeat'))
    streams.push(new Message('metadata', 'error', 'no'))
    streams.push(said('two'))
    expect([await pull(stream), await pull(stream)]).toEqual(['one', 'two'])
    const later = [pull(stream), pull(stream)]
    streams.push(said('three'))
    streams.push(said('four'))
    expect(await Promise.all(later)).toEqual(['three', 'four'])
  })

  it('works with for await, and ends with the loop', async () => {
    const streams = new MessageStreams()
    const { signal } = new AbortController()
    const listeners = counting(signal)
    const stream = streams.open(signal)
    expect(listeners()).toBe(1)
    for (const text of ['one', 'two', 'three']) streams.push(said(text))
    const seen: (string | undefined)[] = []
    for await (const { content } of stream) {
      seen.push(content)
      if (content === 'two') break
    }
    expect(seen).toEqual(['one', 'two'])
    expect(listeners()).toBe(0)
    streams.push(said('four'))
    expect(await pull(stream)).toBe('over')
  })

  it('ends quietly and at once when its signal is aborted: a pull that waits, and all that is held', async () => {
    const streams = new MessageStreams()
    const controller = new AbortController()
    const listeners = counting(controller.signal)
    const waiting = streams.open(controller.signal)
    const holding = streams.open(controller.signal)
    const other = streams.open()
    const pulls = [pull(waiting), pull(waiting)]
    controller.abort()
    streams.push(said('late'))
    expect(await Promise.all(pulls)).toEqual(['over', 'over'])
    expect(await pull(holding)).toBe('over')
    expect(await pull(other)).toBe('late')
    expect(listeners()).toBe(0)
  })

  it('drops what it holds when it is left', async () => {
    const streams = new MessageStreams()
    const controller = new AbortController()
    const stream = streams.open(controller.signal)
    streams.push(said('held'))
    controller.abort()
    expect(await pull(stream)).toBe('over')
    const returned = streams.open()
    streams.push(said('held'))
    const pending = (await returned.next(), returned.next())
    expect(await returned.return?.()).toEqual({ done: true, value: undefined })
    expect(await pending).toEqual({ done: true, value: undefined })
  })

  it('is over from the start with a signal that is aborted already', async () => {
    const streams = new MessageStreams()
    const stream = streams.open(AbortSignal.abort())
    streams.push(said('one'))
    expect(await pull(stream)).toBe('over')
  })

  it('gives what came before the agent ended, and is over then', async () => {
    const streams = new MessageStreams()
    const { signal } = new AbortController()
    const listeners = counting(signal)
    const holding = streams.open(signal)
    streams.push(said('last'))
    const waiting = pull(streams.open())
    streams.end()
    streams.push(said('too late'))
    expect([await pull(holding), await pull(holding), await waiting]).toEqual(['last', 'over', 'over'])
    expect(listeners()).toBe(0)
  })

  it('loses, repeats and reorders nothing, however pushes and pulls of several readers meet', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('push', 'pull 0', 'pull 1', 'turn'), { maxLength: 80 }),
        async steps => {
          const streams = new MessageStreams()
          const readers = [streams.open(), streams.open()]
          const pulls: Promise<string | undefined>[][] = [[], []]
          let count = 0
          for (const step of steps) {
            if (step === 'push') streams.push(said(`${count++}`))
            else if (step === 'turn') await Promise.resolve()
            else
              for (const at of [Number(step.at(-1))])
                pulls[at]?.push(pull(readers[at] as AsyncIterableIterator<Message>))
          }
          streams.end()
          for (const each of pulls)
            expect(await Promise.all(each)).toEqual(each.map((_, at) => (at < count ? `${at}` : 'over')))
        },
      ),
    )
  })
})
