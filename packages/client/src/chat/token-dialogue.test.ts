import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { deferred } from '../../test/chat-harness.ts'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import { AuthError, type SDKError } from '../errors.ts'
import { TokenDialogue, type TokenListener } from './token-dialogue.ts'
import type { Transport } from './transport.ts'

class FakeTransport {
  readonly bufferedAmount = 0
  readonly tokens: string[] = []
  broken = false
  send(text: string): void {
    if (this.broken) throw new Error('The socket is not open.')
    const frame = JSON.parse(text)
    expect(frame).toMatchObject({ persona: 'metadata', role: 'token' })
    this.tokens.push(frame.messageData.token)
  }
  close(): void {}
}

interface SetUp extends Partial<Pick<AuthenticationService, 'getToken' | 'refresh'> & TokenListener> {
  /** @default true */
  isAuthenticated?: boolean
}

function setUp({ isAuthenticated = true, getToken, refresh, ...given }: SetUp = {}) {
  const ready: unknown[] = []
  const unavailable: Array<{ error: SDKError | undefined; transport: unknown; isUsable: boolean }> = []
  const facts = { agent: { agentId: 'help', isAuthenticated } }
  const tokens = { getToken: getToken ?? (async () => 'first'), refresh: refresh ?? (async () => 'fresh') }
  const listener = {
    handleTokenSent: (transport: Transport) => void ready.push(transport),
    handleTokenUnavailable: (error: SDKError | undefined, transport: Transport, isUsable: boolean) =>
      void unavailable.push({ error, transport, isUsable }),
    ...given,
  }
  const dialogue = new TokenDialogue(facts, tokens as AuthenticationService, listener)
  return { dialogue, ready, unavailable, transport: new FakeTransport() }
}

describe('TokenDialogue', () => {
  it('sends the token and is ready', async () => {
    const { dialogue, ready, transport } = setUp()
    expect(dialogue.isOwed).toBe(true)
    dialogue.begin(transport)
    await turnEventLoop()
    expect([transport.tokens, ready, dialogue.isOwed]).toEqual([['first'], [transport], false])
  })

  it('reports that no token can be obtained, and sends a later one', async () => {
    const cause = new Error('no network')
    const { dialogue, ready, unavailable, transport } = setUp({ getToken: () => Promise.reject(cause) })
    dialogue.begin(transport)
    await turnEventLoop()
    expect(unavailable).toEqual([{ error: expect.any(AuthError), transport, isUsable: false }])
    const message = 'Could not obtain an access token for the chat.'
    expect(unavailable[0]?.error).toMatchObject({ reason: 'token_missing', message, cause })
    expect(ready).toEqual([])
    dialogue.offer('brought')
    expect([transport.tokens, ready]).toEqual([['brought'], [transport]])
  })

  it('passes an error of the library on as it is', async () => {
    const error = new AuthError('expired', 'token_request_failed')
    const { dialogue, unavailable, transport } = setUp({ getToken: () => Promise.reject(error) })
    dialogue.begin(transport)
    await turnEventLoop()
    expect(unavailable[0]?.error).toBe(error)
  })

  it('does not write a token on a transport that is gone or replaced', async () => {
    const token = deferred<string>()
    const answers = [token.promise, Promise.resolve('second')]
    const { dialogue, ready, transport } = setUp({ getToken: () => answers.shift() ?? Promise.resolve('') })
    const second = new FakeTransport()
    dialogue.begin(transport)
    dialogue.end()
    dialogue.begin(second)
    token.resolve('late')
    await turnEventLoop()
    expect([transport.tokens, second.tokens, ready]).toEqual([[], ['second'], [second]])
  })

  it('says nothing of a failure whose transport is gone', async () => {
    const token = deferred<string>()
    const { dialogue, unavailable, transport } = setUp({ getToken: () => token.promise })
    dialogue.begin(transport)
    dialogue.end()
    token.reject(new Error('late'))
    await turnEventLoop()
    expect(unavailable).toEqual([])
  })

  it('prefers a token that is offered while another is on its way', async () => {
    const token = deferred<string>()
    const { dialogue, unavailable, transport } = setUp({ getToken: () => token.promise })
    dialogue.begin(transport)
    dialogue.offer('brought')
    token.resolve('first')
    await turnEventLoop()
    expect([transport.tokens, unavailable]).toEqual([['brought'], []])
  })

  it('does not complain of a failed request when a token was offered meanwhile', async () => {
    const token = deferred<string>()
    const { dialogue, unavailable, transport } = setUp({ getToken: () => token.promise })
    dialogue.begin(transport)
    dialogue.offer('brought')
    token.reject(new Error('too late'))
    await turnEventLoop()
    expect([transport.tokens, unavailable]).toEqual([['brought'], []])
  })

  it('offers the same token once, and nothing to an agent that wants none or without a chat', async () => {
    const { dialogue, transport } = setUp()
    dialogue.offer('early')
    dialogue.begin(transport)
    await turnEventLoop()
    dialogue.offer('first')
    expect(transport.tokens).toEqual(['first'])
    const open = setUp({ isAuthenticated: false })
    open.dialogue.attach(open.transport)
    open.dialogue.offer('brought')
    expect(open.transport.tokens).toEqual([])
  })

  it('is not ready when the write fails', async () => {
    const { dialogue, ready, unavailable, transport } = setUp()
    transport.broken = true
    dialogue.begin(transport)
    await turnEventLoop()
    expect([ready, unavailable]).toEqual([[], []])
  })

  describe('renew()', () => {
    it('answers all requests of the time with one refresh, and the next with another', async () => {
      let refreshed = 0
      const { dialogue, transport } = setUp({ refresh: async () => `fresh ${++refreshed}` })
      dialogue.begin(transport)
      await turnEventLoop()
      dialogue.renew(true)
      dialogue.renew(true)
      dialogue.renew(true)
      await turnEventLoop()
      expect(transport.tokens).toEqual(['first', 'fresh 1'])
      dialogue.renew(true)
      await turnEventLoop()
      expect(transport.tokens).toEqual(['first', 'fresh 1', 'fresh 2'])
    })

    it('does not send the refused token again, and says that another is needed', async () => {
      const { dialogue, unavailable, transport } = setUp({ refresh: async () => 'first' })
      dialogue.begin(transport)
      await turnEventLoop()
      dialogue.renew(true)
      await turnEventLoop()
      expect(transport.tokens).toEqual(['first'])
      expect(unavailable).toEqual([{ error: undefined, transport, isUsable: false }])
    })

    it('sends messages with a stale token that cannot be renewed, until it is rejected', async () => {
      const usable: boolean[] = []
      const { dialogue, transport } = setUp({
        refresh: async () => 'first',
        handleTokenUnavailable: (_error, _transport, isUsable) => void usable.push(isUsable),
      })
      dialogue.begin(transport)
      await turnEventLoop()
      dialogue.renew(false)
      await turnEventLoop()
      dialogue.renew(true)
      await turnEventLoop()
      expect(usable).toEqual([true, false])
    })

    it('sends messages of an agent that needs no token when a stale one cannot be renewed', async () => {
      const { dialogue, unavailable, transport } = setUp({
        isAuthenticated: false,
        refresh: () => Promise.reject(new Error('down')),
      })
      dialogue.attach(transport)
      dialogue.renew(false)
      await turnEventLoop()
      expect(unavailable).toEqual([{ error: expect.any(AuthError), transport, isUsable: true }])
    })

    it('says when the refresh fails, and asks again at the next request', async () => {
      let refreshed = 0
      const { dialogue, unavailable, transport } = setUp({
        refresh: async () => {
          if (++refreshed === 1) throw new Error('down')
          return 'fresh'
        },
      })
      dialogue.begin(transport)
      await turnEventLoop()
      dialogue.renew(true)
      await turnEventLoop()
      expect(unavailable).toHaveLength(1)
      dialogue.renew(true)
      await turnEventLoop()
      expect(transport.tokens).toEqual(['first', 'fresh'])
    })

    it('does nothing without a chat', async () => {
      let refreshed = 0
      const { dialogue } = setUp({ refresh: async () => `fresh ${++refreshed}` })
      dialogue.renew(true)
      await turnEventLoop()
      expect(refreshed).toBe(0)
    })

    it('does not write the answer to an old socket’s request on the new one', async () => {
      const fresh = deferred<string>()
      const { dialogue, transport } = setUp({ refresh: () => fresh.promise })
      const second = new FakeTransport()
      dialogue.begin(transport)
      await turnEventLoop()
      dialogue.renew(true)
      dialogue.end()
      dialogue.begin(second)
      await turnEventLoop()
      fresh.resolve('fresh')
      await turnEventLoop()
      expect([transport.tokens, second.tokens]).toEqual([['first'], ['first']])
    })

    it('does not hold up the new socket because of a refresh for the old one that failed', async () => {
      const fresh = deferred<string>()
      const { dialogue, unavailable, transport } = setUp({ refresh: () => fresh.promise })
      dialogue.begin(transport)
      await turnEventLoop()
      dialogue.renew(true)
      dialogue.end()
      dialogue.begin(new FakeTransport())
      await turnEventLoop()
      fresh.reject(new Error('down'))
      await turnEventLoop()
      expect(unavailable).toEqual([])
    })

    it('is content with a token that the host offers meanwhile', async () => {
      const fresh = deferred<string>()
      const { dialogue, unavailable, transport } = setUp({ refresh: () => fresh.promise })
      dialogue.begin(transport)
      await turnEventLoop()
      dialogue.renew(true)
      dialogue.offer('brought')
      fresh.reject(new Error('down'))
      await turnEventLoop()
      expect([transport.tokens, unavailable]).toEqual([['first', 'brought'], []])
    })

    it('does not send a token twice that the host offers and the refresh yields', async () => {
      const fresh = deferred<string>()
      const { dialogue, unavailable, transport } = setUp({ refresh: () => fresh.promise })
      dialogue.begin(transport)
      await turnEventLoop()
      dialogue.renew(true)
      dialogue.offer('fresh')
      fresh.resolve('fresh')
      await turnEventLoop()
      expect([transport.tokens, unavailable]).toEqual([['first', 'fresh'], []])
    })

    it('takes an offered token on the chat of an agent that wants none at the opening but asked for one', async () => {
      const { dialogue, unavailable, ready, transport } = setUp({
        isAuthenticated: false,
        refresh: () => Promise.reject(new Error('down')),
      })
      dialogue.attach(transport)
      dialogue.renew(true)
      await turnEventLoop()
      expect(unavailable).toHaveLength(1)
      dialogue.offer('brought')
      expect([transport.tokens, ready]).toEqual([['brought'], [transport]])
    })

    it('answers several requests with one refresh, and reports its failure once', async () => {
      const refresh = deferred<string>()
      const { dialogue, unavailable, transport } = setUp({
        isAuthenticated: false,
        refresh: () => refresh.promise,
      })
      dialogue.attach(transport)
      for (let request = 0; request < 3; request++) dialogue.renew(true)
      refresh.reject(new Error('down'))
      await turnEventLoop()
      expect(unavailable).toHaveLength(1)
    })

    it('forgets with the socket that the service asked', async () => {
      const { dialogue, transport } = setUp({
        isAuthenticated: false,
        refresh: () => Promise.reject(new Error('down')),
      })
      const second = new FakeTransport()
      dialogue.attach(transport)
      dialogue.renew(true)
      await turnEventLoop()
      dialogue.end()
      dialogue.attach(second)
      dialogue.offer('brought')
      expect(second.tokens).toEqual([])
    })
  })
})
