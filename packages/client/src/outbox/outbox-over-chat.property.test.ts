import { ROLE } from '@aiagent/protocol'
import { FakeWebSocket, turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deferred, setUpChat, watch } from '../../test/chat-harness.ts'

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('send' as const), count: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('connect' as const), abortable: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('disconnect' as const), skip: fc.boolean() }) },
  { weight: 6, arbitrary: fc.constant({ kind: 'accept' as const }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), code: fc.constantFrom(1000, 1006, 4404) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'closing' as const }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('token' as const), fails: fc.boolean() }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'offer' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'renew' as const }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(0, 4, 5, 100, 5_000, 31_000) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('buffer' as const), bytes: fc.constantFrom(0, 1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), which: fc.nat(3) }) },
)

const roleOf = (frame: string): unknown => JSON.parse(frame).role

describe('Outbox over a chat', () => {
  it('loses, repeats and reorders no message, tokens come first and the goodbye last, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 45, size: 'max' }), fc.boolean(), async (steps, needsToken) => {
        const requests: Array<ReturnType<typeof deferred<string>>> = []
        const ask = () => {
          const request = deferred<string>()
          requests.push(request)
          return request.promise
        }
        const { chat, outbox, clock, liveSockets, told } = setUpChat({
          ...(needsToken && { token: { getToken: ask, refresh: ask } }),
        })
        const promises: Array<{ seen: ReturnType<typeof watch>; controller: AbortController | undefined }> = []
        let made = 0
        let tokens = 0
        const newToken = () => `t${++tokens}`
        for (const each of steps) {
          const socket = FakeWebSocket.made.at(-1)
          switch (each.kind) {
            case 'send':
              for (let i = 0; i < each.count; i++) outbox.send(String(made++))
              break
            case 'connect': {
              const controller = each.abortable ? new AbortController() : undefined
              promises.push({ seen: watch(chat.connect(controller?.signal)), controller })
              break
            }
            case 'disconnect':
              promises.push({
                seen: watch(chat.disconnect({ skipGracefulDisconnect: each.skip })),
                controller: undefined,
              })
              break
            case 'accept':
              if (socket?.readyState === 0) socket.accept()
              break
            case 'end':
              if (socket && socket.readyState < 3) socket.end(each.code)
              break
            case 'closing':
              if (socket?.readyState === 1) socket.readyState = 2
              break
            case 'token':
              if (each.fails) requests.shift()?.reject(new Error('none'))
              else requests.shift()?.resolve(newToken())
              break
            case 'offer':
              chat.offerToken(newToken())
              break
            case 'renew':
              if (needsToken) chat.onRefreshRequired(true)
              break
            case 'advance':
              await clock.advance(each.ms)
              break
            case 'buffer':
              if (socket) socket.bufferedAmount = each.bytes
              break
            case 'abort':
              promises.at(-1 - each.which)?.controller?.abort()
              break
            default:
              each satisfies never
          }
          await turnEventLoop(1)
          expect(liveSockets()).toBeLessThanOrEqual(1)
          expect(clock.pendingTimers).toBeLessThanOrEqual(2)
        }
        // The host leaves: everything settles, and nothing goes on by itself.
        promises.push({ seen: watch(chat.disconnect()), controller: undefined })
        await clock.advance(100)
        expect(promises.map(({ seen }) => seen.outcome)).not.toContain('pending')
        expect([liveSockets(), clock.pendingTimers]).toEqual([0, 0])
        const before = told.length
        for (const socket of FakeWebSocket.made) socket.end(1006)
        for (const request of requests) request.resolve(newToken())
        await clock.advance(120_000)
        expect(told.length).toBe(before)

        // And with a good line what still waits arrives.
        requests.length = 0
        const connecting = watch(chat.connect())
        await turnEventLoop()
        FakeWebSocket.last.accept()
        for (const request of requests) request.resolve(newToken())
        await clock.advance(1_000)
        expect([connecting.outcome, outbox.size]).toEqual(['done', 0])
        const sent = FakeWebSocket.made.flatMap(socket => socket.sent)
        expect(sent.filter(frame => roleOf(frame) === 'human').map(frame => Number(JSON.parse(frame).content))).toEqual(
          Array.from({ length: made }, (_, n) => n),
        )
        for (const socket of FakeWebSocket.made) {
          const roles = socket.sent.map(roleOf)
          if (needsToken && roles.length > 0) expect(roles[0]).toBe(ROLE.TOKEN)
          if (!needsToken) expect(roles).not.toContain(ROLE.TOKEN)
          const goodbye = roles.indexOf(ROLE.GRACEFUL_DISCONNECT)
          if (goodbye >= 0) expect(goodbye).toBe(roles.length - 1)
        }
      }),
      { numRuns: 200 },
    )
  })
})
