import { describe, expect, it } from 'vitest'
import { ProtocolError } from '../protocol-error.ts'
import { parseSessionRequest, parseSessionResponse } from './session.ts'

describe('the answer to a session call', () => {
  it.each([
    ['S1', 'S1'],
    ['0', '0'],
    [17, '17'],
    [0, '0'],
    [-9007199254740991, '-9007199254740991'],
    [' S1\n', 'S1'],
  ])('with the id %j reads as %j', (sessionId, text) => {
    expect(parseSessionResponse({ sessionId }).sessionId).toBe(text)
  })

  it.each(['', '  ', 'undefined', 'NULL', 'NaN', 1.5, 2 ** 53, 1e21, Number.NaN, Infinity, null, true, {}, ['S1']])(
    '[REST-10] with the id %s is refused',
    sessionId => {
      expect(() => parseSessionResponse({ sessionId })).toThrow(ProtocolError)
    },
  )

  it.each([[{}], [[]], [null], ['S1']])('without an id is refused: %j', body => {
    expect(() => parseSessionResponse(body)).toThrow(ProtocolError)
  })

  it('keeps what it does not know', () => {
    expect(parseSessionResponse({ sessionId: 'S1', region: 'x' })).toEqual({ sessionId: 'S1', region: 'x' })
  })
})

describe('the body of a session call', () => {
  it.each([
    [{}, true],
    [{ context: {} }, true],
    [{ context: { plan: 'gold', n: { value: 1 } } }, true],
    [{ context: [] }, false],
    [{ context: null }, false],
    [[], false],
    [null, false],
  ])('%j is taken: %s', (body, fits) => {
    const read = () => parseSessionRequest(body)
    if (fits) expect(read()).toEqual(body)
    else expect(read).toThrow(ProtocolError)
  })
})
