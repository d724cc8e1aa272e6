import { describe, expect, it } from 'vitest'
import { refuseControl } from './access.ts'

const ask = (url: string, headers: Record<string, string> = {}) => new Request(url, { headers })

describe('access to the controls', () => {
  it.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])('is allowed for this machine: %s', address => {
    expect(refuseControl(ask('http://127.0.0.1:8600/_control/faults'), address)).toBeUndefined()
  })

  it.each(['10.0.0.7', '::ffff:10.0.0.7', 'fe80::1', '1127.0.0.1', '127.0.0.1.evil.test', '', undefined])(
    'is denied to others, regardless of the host of the request: %s',
    address => {
      expect(refuseControl(ask('http://localhost:8600/_control/faults'), address)).toMatch(/this machine alone/)
    },
  )

  it.each([
    ['http://localhost:1/_control', {}, undefined],
    ['http://[::1]:1/_control', {}, undefined],
    ['http://evil.test:1/_control', {}, /by an address of this machine/],
    ['http://127.0.0.1.evil.test/_control', {}, /by an address of this machine/],
    ['http://127.0.0.1:1/_control', { origin: 'http://localhost:5173' }, undefined],
    ['http://127.0.0.1:1/_control', { origin: 'https://evil.test' }, /pages of other hosts/],
    ['http://127.0.0.1:1/_control', { origin: 'null' }, /pages of other hosts/],
    ['http://127.0.0.1:1/_control', { 'x-forwarded-for': '10.0.0.7' }, /proxy/],
  ] as const)('is denied to pages of other hosts and to proxies: %s %j', (url, headers, refusal) => {
    const answer = refuseControl(ask(url, headers), '127.0.0.1')
    if (refusal) expect(answer).toMatch(refusal)
    else expect(answer).toBeUndefined()
  })
})
