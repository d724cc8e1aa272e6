import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConnectionError } from '../errors.ts'
import { chatAddress } from './transport.ts'

const address = (
  webSocketDomain: string | null | undefined,
  aiAgentDomain: string | null | undefined,
  sessionId = 's1',
) =>
  chatAddress({
    agent: webSocketDomain === undefined ? {} : { webSocketDomain },
    deployment: aiAgentDomain === undefined ? {} : { aiAgentDomain },
    sessionId,
  })

describe('chatAddress', () => {
  it.each([
    ['chat.own.example', 'shared.example', 'wss://chat.own.example/?sessionId=s1'],
    ['own.example:8443/chat', undefined, 'wss://own.example:8443/chat?sessionId=s1'],
    [undefined, 'shared.example', 'wss://chat.shared.example/?sessionId=s1'],
    ['', 'shared.example', 'wss://chat.shared.example/?sessionId=s1'],
    ['  ', 'shared.example', 'wss://chat.shared.example/?sessionId=s1'],
    [null, 'shared.example:8443/path', 'wss://chat.shared.example:8443/path?sessionId=s1'],
    [undefined, 'https://shared.example', 'wss://chat.shared.example/?sessionId=s1'],
  ])('[WS-01] makes of the agent’s %j and the deployment’s %j the address %s', (own, shared, expected) => {
    expect(address(own, shared)).toBe(expected)
  })

  it.each([
    [undefined, undefined, 'neither the agent’s webSocketDomain nor the deployment’s aiAgentDomain', {}],
    [null, null, 'neither the agent’s webSocketDomain nor the deployment’s aiAgentDomain', {}],
    ['', ' ', 'neither the agent’s webSocketDomain nor the deployment’s aiAgentDomain', {}],
    [undefined, 'not a host', 'cannot be read: wss://chat.not a host', { cause: expect.any(TypeError) }],
    ['not a host', 'shared.example', 'cannot be read: wss://not a host', { cause: expect.any(TypeError) }],
  ])('[WS-01] says plainly that %j and %j make no address', (own, shared, words, more) => {
    const facts = { reason: 'no_address', message: expect.stringContaining(words), ...more }
    expect(() => address(own, shared)).toThrow(ConnectionError)
    expect(() => address(own, shared)).toThrow(expect.objectContaining(facts))
  })

  it.each(['ftp', 'file', 'blob', 'javascript'])('[SEC-92] makes no address with the scheme %s', scheme => {
    for (const [own, shared] of [
      [`${scheme}://own.example`, undefined],
      [undefined, `${scheme}://shared.example`],
    ])
      expect(() => address(own, shared)).toThrow(expect.objectContaining({ reason: 'no_address' }))
  })

  it('[WS-02] hands over any session id and conversation id unchanged, as search parameters', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.string({ unit: 'grapheme' }),
        (sessionId, conversationId) => {
          const parts = { agent: {}, deployment: { aiAgentDomain: 'shared.example' }, sessionId, conversationId }
          const { searchParams, host } = new URL(chatAddress(parts))
          expect(host).toBe('chat.shared.example')
          expect(searchParams.getAll('sessionId')).toEqual([sessionId])
          expect(searchParams.getAll('externalCallId')).toEqual(conversationId === '' ? [] : [conversationId])
        },
      ),
    )
  })

  it('[WS-02] puts nothing else into the query', () => {
    expect([...new URL(address(undefined, 'shared.example')).searchParams.keys()]).toEqual(['sessionId'])
  })
})
