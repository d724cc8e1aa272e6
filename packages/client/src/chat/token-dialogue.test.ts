import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { deferred } from '../../test/chat-harness.ts'
import { setUpConnection } from '../../test/connection-harness.ts'
import { listen } from '../../test/fake-scope.ts'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import { AuthError, type SDKError } from '../errors.ts'
import type { ChatSession, Opening } from './chat-session.ts'
import { TokenDialogue } from './token-dialogue.ts'
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

interface SetUp extends Partial<Pick<AuthenticationService, 'getToken' | 'refresh'>> {
  /** @default true */
  isAuthenticated?: boolean
}

function setUp({ isAuthenticated = true, getToken, refresh }: SetUp = {}) {
  const ready: unknown[] = []
  const errors: SDKError[] = []
  /** For each time that a token of the host was needed, whether the current one was still usable. */
  const needed: boolean[] = []
  let isUsable = true
  const { scope, connection } = setUpConnection()
  scope.facts.setAgent({ agentId: 'help', isAuthenticated } as never)
  const authentication = {
    getToken: getToken ?? (async () => 'first'),
    refresh: refresh ?? (async () => 'fresh'),
    setTokenExpiringCallback() {},
  } as unknown as AuthenticationService
  const session = { sendContext() {} } as unknown as ChatSession
  const dialogue = new TokenDialogue(scope, { connection, session, authentication })
  connection.observe({
    handleReady: transport => void ready.push(transport),
    handleInterrupted: () => {
      isUsable = false
    },
  })
  listen(scope, 'error', ({ error }) => void errors.push(error))
  listen(scope, 'tokenExpiring', () => void needed.push(isUsable))
  const begin = (transport: Transport) => {
    isUsable = true
    dialogue.handleOpened(transport, {} as Opening)
  }
  return { dialogue, begin, ready, errors, needed, transport: new FakeTransport() }
}

describe('TokenDialogue', () => {
  it('sends the token and is ready', async () => {
    const { dialogue, begin, ready, transport } = setUp()
    expect(dialogue.isMissing).toBe(true)
    begin(transport)
    await turnEventLoop()
    expect([transport.tokens, ready, dialogue.isMissing]).toEqual([['first'], [transport], false])
  })

  it('reports that no token can be obtained, and sends a later one', async () => {
    const cause = new Error('no network')
    const { dialogue, begin, ready, errors, needed, transport } = setUp({ getToken: () => Promise.reject(cause) })
    begin(transport)
    await turnEventLoop()
    expect([errors, needed]).toEqual([[expect.any(AuthError)], [false]])
    const message = 'Could not obtain an access token for the chat.'
    expect(errors[0]).toMatchObject({ reason: 'token_missing', message, cause })
    expect(ready).toEqual([])
    dialogue.offer('brought')
    expect([transport.tokens, ready]).toEqual([['brought'], [transport]])
  })

  it('passes an error of the library on as it is', async () => {
    const error = new AuthError('expired', 'token_request_failed')
    const { begin, errors, transport } = setUp({ getToken: () => Promise.reject(error) })
    begin(transport)
    await turnEventLoop()
    expect(errors[0]).toBe(error)
  })

  it('does not write a token on a transport that is gone or replaced', async () => {
    const token = deferred<string>()
    const answers = [token.promise, Promise.resolve('second')]
    const { dialogue, begin, ready, transport } = setUp({ getToken: () => answers.shift() ?? Promise.resolve('') })
    const second = new FakeTransport()
    begin(transport)
    dialogue.end()
    begin(second)
    token.resolve('late')
    await turnEventLoop()
    expect([transport.tokens, second.tokens, ready]).toEqual([[], ['second'], [second]])
  })

  it('says nothing of a failure whose transport is gone', async () => {
    const token = deferred<string>()
    const { dialogue, begin, errors, needed, transport } = setUp({ getToken: () => token.promise })
    begin(transport)
    dialogue.end()
    token.reject(new Error('late'))
    await turnEventLoop()
    expect([errors, needed]).toEqual([[], []])
  })

  it('prefers a token that is offered while another is on its way', async () => {
    const token = deferred<string>()
    const { dialogue, begin, errors, needed, transport } = setUp({ getToken: () => token.promise })
    begin(transport)
    dialogue.offer('brought')
    token.resolve('first')
    await turnEventLoop()
    expect([transport.tokens, errors, needed]).toEqual([['brought'], [], []])
  })

  it('does not complain of a failed request when a token was offered meanwhile', async () => {
    const token = deferred<string>()
    const { dialogue, begin, errors, needed, transport } = setUp({ getToken: () => token.promise })
    begin(transport)
    dialogue.offer('brought')
    token.reject(new Error('too late'))
    await turnEventLoop()
    expect([transport.tokens, errors, needed]).toEqual([['brought'], [], []])
  })

  it('offers the same token once, and nothing to an agent that wants none or without a chat', async () => {
    const { dialogue, begin, transport } = setUp()
    dialogue.offer('early')
    begin(transport)
    await turnEventLoop()
    dialogue.offer('first')
    expect(transport.tokens).toEqual(['first'])
    const open = setUp({ isAuthenticated: false })
    open.begin(open.transport)
    open.dialogue.offer('brought')
    expect(open.transport.tokens).toEqual([])
  })

  it('is not ready when the write fails', async () => {
    const { begin, ready, needed, transport } = setUp()
    transport.broken = true
    begin(transport)
    await turnEventLoop()
    expect([ready, needed]).toEqual([[], []])
  })

  describe('renew()', () => {
    it('answers all requests of the time with one refresh, and the next with another', async () => {
      let refreshed = 0
      const { dialogue, begin, transport } = setUp({ refresh: async () => `fresh ${++refreshed}` })
      begin(transport)
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
      const { dialogue, begin, errors, needed, transport } = setUp({ refresh: async () => 'first' })
      begin(transport)
      await turnEventLoop()
      dialogue.renew(true)
      await turnEventLoop()
      expect(transport.tokens).toEqual(['first'])
      expect([errors, needed]).toEqual([[], [false]])
    })

    it('sends messages with a stale token that cannot be renewed, until it is rejected', async () => {
      const { dialogue, begin, needed, transport } = setUp({
        refresh: async () => 'first',
      })
      begin(transport)
      await turnEventLoop()
      dialogue.renew(false)
      await turnEventLoop()
      dialogue.renew(true)
      await turnEventLoop()
      expect(needed).toEqual([true, false])
    })

    it('sends messages of an agent that needs no token when a stale one cannot be renewed', async () => {
      const { dialogue, begin, errors, needed, transport } = setUp({
        isAuthenticated: false,
        refresh: () => Promise.reject(new Error('down')),
      })
      begin(transport)
      dialogue.renew(false)
      await turnEventLoop()
      expect([errors, needed]).toEqual([[expect.any(AuthError)], [true]])
    })

    it('says when the refresh fails, and asks again at the next request', async () => {
      let refreshed = 0
      const { dialogue, begin, errors, needed, transport } = setUp({
        refresh: async () => {
          if (++refreshed === 1) throw new Error('down')
          return 'fresh'
        },
      })
      begin(transport)
      await turnEventLoop()
      dialogue.renew(true)
      await turnEventLoop()
      expect([errors.length, needed.length]).toEqual([1, 1])
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
      const { dialogue, begin, transport } = setUp({ refresh: () => fresh.promise })
      const second = new FakeTransport()
      begin(transport)
      await turnEventLoop()
      dialogue.renew(true)
      dialogue.end()
      begin(second)
      await turnEventLoop()
      fresh.resolve('fresh')
      await turnEventLoop()
      expect([transport.tokens, second.tokens]).toEqual([['first'], ['first']])
    })

    it('does not hold up the new socket because of a refresh for the old one that failed', async () => {
      const fresh = deferred<string>()
      const { dialogue, begin, errors, needed, transport } = setUp({ refresh: () => fresh.promise })
      begin(transport)
      await turnEventLoop()
      dialogue.renew(true)
      dialogue.end()
      begin(new FakeTransport())
      await turnEventLoop()
      fresh.reject(new Error('down'))
      await turnEventLoop()
      expect([errors, needed]).toEqual([[], []])
    })

    it('is content with a token that the host offers meanwhile', async () => {
      const fresh = deferred<string>()
      const { dialogue, begin, errors, needed, transport } = setUp({ refresh: () => fresh.promise })
      begin(transport)
      await turnEventLoop()
      dialogue.renew(true)
      dialogue.offer('brought')
      fresh.reject(new Error('down'))
      await turnEventLoop()
      expect([transport.tokens, errors, needed]).toEqual([['first', 'brought'], [], []])
    })

    it('does not send a token twice that the host offers and the refresh yields', async () => {
      const fresh = deferred<string>()
      const { dialogue, begin, errors, needed, transport } = setUp({ refresh: () => fresh.promise })
      begin(transport)
      await turnEventLoop()
      dialogue.renew(true)
      dialogue.offer('fresh')
      fresh.resolve('fresh')
      await turnEventLoop()
      expect([transport.tokens, errors, needed]).toEqual([['first', 'fresh'], [], []])
    })

    it('takes an offered token on the chat of an agent that wants none at the opening but asked for one', async () => {
      const { dialogue, begin, ready, errors, needed, transport } = setUp({
        isAuthenticated: false,
        refresh: () => Promise.reject(new Error('down')),
      })
      begin(transport)
      dialogue.renew(true)
      await turnEventLoop()
      expect([errors.length, needed.length]).toEqual([1, 1])
      dialogue.offer('brought')
      expect([transport.tokens, ready]).toEqual([['brought'], [transport, transport]])
    })

    it('answers several requests with one refresh, and reports its failure once', async () => {
      const refresh = deferred<string>()
      const { dialogue, begin, errors, needed, transport } = setUp({
        isAuthenticated: false,
        refresh: () => refresh.promise,
      })
      begin(transport)
      for (let request = 0; request < 3; request++) dialogue.renew(true)
      refresh.reject(new Error('down'))
      await turnEventLoop()
      expect([errors.length, needed.length]).toEqual([1, 1])
    })

    it('forgets with the socket that the service asked', async () => {
      const { dialogue, begin, transport } = setUp({
        isAuthenticated: false,
        refresh: () => Promise.reject(new Error('down')),
      })
      const second = new FakeTransport()
      begin(transport)
      dialogue.renew(true)
      await turnEventLoop()
      dialogue.end()
      begin(second)
      dialogue.offer('brought')
      expect(second.tokens).toEqual([])
    })
  })
})
