import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Message } from '../log/message.ts'
import { AgentMessageHandler, type AgentMessageResult, escalationOf, handOverAddress } from './message-handler.ts'

const resultFor = (messageData: Message['messageData']): AgentMessageResult =>
  new AgentMessageHandler().handle(new Message('agent', 'any', 'Hold on.', { messageId: 'm1', messageData }))

describe('handOverAddress', () => {
  it.each([
    ['the entry page', { entrypointUrl: 'https://live.test/in?c=1#now' }, 'https://live.test/in?c=1#now'],
    ['an entry page without TLS', { entrypointUrl: ' http://127.0.0.1:80/in ' }, 'http://127.0.0.1/in'],
    ['an entry page elsewhere', { entrypointUrl: 'https://a.test/in', liveDomain: 'b.test' }, 'https://a.test/in'],
    [
      'a path on the live domain',
      { entrypointUrl: '/enter/12', liveDomain: 'live.test' },
      'https://live.test/enter/12',
    ],
    ['the live domain alone', { liveDomain: ' live.test ' }, 'https://live.test/'],
    ['a live domain with a port', { liveDomain: 'localhost:8600' }, 'https://localhost:8600/'],
    ['a live domain with a scheme', { liveDomain: 'http://live.test/chat/' }, 'http://live.test/chat'],
    ['a blank entry page', { entrypointUrl: ' ', liveDomain: 'live.test' }, 'https://live.test/'],
    ['a script as the entry page', { entrypointUrl: 'javascript:alert(1)', liveDomain: 'a.test' }, 'https://a.test/'],
    ['an absent entry page', { entrypointUrl: null, liveDomain: 'live.test' }, 'https://live.test/'],
  ])('gives %s', (_what, data, address) => {
    expect(handOverAddress(data)?.href).toBe(address)
  })

  it.each([
    ['nothing', {}],
    ['blanks', { entrypointUrl: '', liveDomain: '  ' }],
    ['a script', { entrypointUrl: 'javascript:alert(1)' }],
    ['a script that hides', { entrypointUrl: ' java\nscript:alert(1)' }],
    ['data', { entrypointUrl: 'data:text/html,<script>1</script>' }],
    ['a file', { entrypointUrl: 'file:///etc/passwd' }],
    ['a user name', { entrypointUrl: 'https://bank.test@evil.test/' }],
    ['a password', { entrypointUrl: 'https://:secret@evil.test/' }],
    ['a path without a domain', { entrypointUrl: '/enter' }],
    ['a path on a domain that is none', { entrypointUrl: '/enter', liveDomain: 'a b' }],
    ['a name without a scheme', { entrypointUrl: 'live.test/in' }],
    ['a domain with a user', { liveDomain: 'bank.test@evil.test' }],
    ['a domain with another scheme', { liveDomain: 'ftp://live.test' }],
  ])('gives no address for %s', (_what, data) => {
    expect(handOverAddress(data)).toBeUndefined()
  })

  it('gives a web address without a user or nothing, whatever the service says, and throws never', () => {
    const scheme = fc.constantFrom(
      'https:',
      'http:',
      'javascript:',
      'data:',
      'blob:',
      'vbscript:',
      '',
      '//',
      ' ht\ttps:',
    )
    const text = fc.option(
      fc.oneof(
        fc.string(),
        fc.webUrl(),
        fc.tuple(scheme, fc.string()).map(parts => parts.join('')),
      ),
    )
    fc.assert(
      fc.property(text, text, (entrypointUrl, liveDomain) => {
        const address = handOverAddress({ entrypointUrl, liveDomain })
        if (!address) return
        expect(address.protocol).toMatch(/^https?:$/)
        expect(address.username + address.password).toBe('')
      }),
    )
  })
})

describe('escalationOf', () => {
  it('reads a live hand-over', () => {
    const escalationData = { live: true, liveDomain: 'live.test', entrypointUrl: 'https://live.test/in', more: 1 }
    const result = resultFor({ escalation: true, escalationData })
    expect(escalationOf(result)).toEqual({
      escalationType: 'live',
      escalationData,
      messageId: 'm1',
      message: result.message,
    })
  })

  it('reads other ways to a human, in their order', () => {
    const result = resultFor({ escalation: true, escalationData: { sms: true, phone: true, phoneNumber: '+1 555' } })
    expect(escalationOf(result)).toMatchObject({
      escalationType: 'alternate',
      escalationData: {
        options: [
          { label: 'CALL', type: 'phone', value: '+1 555' },
          { label: 'SMS', type: 'sms' },
        ],
      },
    })
  })

  it('returns contact options even if a custom handler omits them', () => {
    const result = resultFor({ escalation: true, escalationData: { email: true } })
    delete result.message.escalationData?.options
    expect(escalationOf(result)?.escalationData).toEqual({ email: true, options: [] })
  })

  it('returns nothing for a custom result without a message', () => {
    expect(escalationOf({ type: 'agent_message' } as AgentMessageResult)).toBeUndefined()
  })

  it.each([
    ['an ordinary answer', undefined],
    ['an escalation without data', { escalation: true }],
    ['an escalation without a way', { escalation: true, escalationData: { live: false } }],
    ['data without an escalation', { escalation: false, escalationData: { live: true } }],
  ])('reads nothing from %s', (_what, data) => {
    expect(escalationOf(resultFor(data))).toBeUndefined()
  })
})
