import { describe, expect, it } from 'vitest'
import { restBase, socketBase } from './origin.ts'

describe('bases of addresses', () => {
  it.each([
    ['api.example.test', 'https://api.example.test', 'wss://api.example.test'],
    ['api.example.test:8443', 'https://api.example.test:8443', 'wss://api.example.test:8443'],
    ['localhost:8600', 'https://localhost:8600', 'wss://localhost:8600'],
    ['api.example.test/tenant/', 'https://api.example.test/tenant', 'wss://api.example.test/tenant'],
    ['//api.example.test', 'https://api.example.test', 'wss://api.example.test'],
    ['  api.example.test \n', 'https://api.example.test', 'wss://api.example.test'],
    ['http://127.0.0.1:8600', 'http://127.0.0.1:8600', 'ws://127.0.0.1:8600'],
    ['https://api.example.test', 'https://api.example.test', 'wss://api.example.test'],
    ['ws://127.0.0.1:8600/', 'http://127.0.0.1:8600', 'ws://127.0.0.1:8600'],
    ['wss://api.example.test///', 'https://api.example.test', 'wss://api.example.test'],
    ['https://api.example.test/a/b/', 'https://api.example.test/a/b', 'wss://api.example.test/a/b'],
    ['HTTP://API.Example.test', 'http://API.Example.test', 'ws://API.Example.test'],
    ['WSS://API.Example.test', 'https://API.Example.test', 'wss://API.Example.test'],
    ['http://[::1]:8600/', 'http://[::1]:8600', 'ws://[::1]:8600'],
    ['[::1]:8600', 'https://[::1]:8600', 'wss://[::1]:8600'],
  ])('[CFG-01] of %j are %s and %s', (address, rest, socket) => {
    expect(restBase(address)).toBe(rest)
    expect(socketBase(address)).toBe(socket)
  })

  it('leave another scheme as it is, for the caller to refuse', () => {
    expect(restBase('ftp://files.example.test/')).toBe('ftp://files.example.test')
    expect(socketBase('constructor://x')).toBe('constructor://x')
  })

  it.each(['api.example.test/', 'ws://h:1/p//', 'HTTPS://h'])('do not change when taken twice: %s', address => {
    expect(restBase(restBase(address))).toBe(restBase(address))
    expect(socketBase(socketBase(address))).toBe(socketBase(address))
    expect(restBase(socketBase(address))).toBe(restBase(address))
  })
})
