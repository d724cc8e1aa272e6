import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import clientMessages from '../../fixtures/client-messages.json' with { type: 'json' }
import extensionMessages from '../../fixtures/extension-messages.json' with { type: 'json' }
import serverMessages from '../../fixtures/server-messages.json' with { type: 'json' }
import {
  PingMessageSchema,
  PongMessageSchema,
  ReceiptMessageSchema,
  RefusalMessageSchema,
  ResumedMessageSchema,
} from '../schemas.ts'
import { readClientIntent } from './client-message.ts'
import { parseClientMessage, parseServerMessage } from './codec.ts'
import { encodeMessage, encodeText } from './encode.ts'
import {
  addMessageId,
  type ExtensionSignal,
  encodePing,
  encodePong,
  encodeReceipt,
  encodeResumed,
  fencedReason,
  readExtensionSignal,
  readFence,
  readFencedReason,
  readLastSeq,
} from './extension.ts'

const read = (text: string) => readExtensionSignal(parseServerMessage(text))

/** The signal of a frame, as the schemas read it. */
function readBySchema(frame: unknown): ExtensionSignal | undefined {
  const receipt = v.safeParse(ReceiptMessageSchema, frame)
  if (receipt.success) {
    const { messageId, duplicate } = receipt.output.messageData
    return { kind: 'receipt', messageId, duplicate }
  }
  const refusal = v.safeParse(RefusalMessageSchema, frame)
  if (refusal.success) {
    const { messageId, error_code } = refusal.output.messageData
    return { kind: 'refusal', messageId, code: String(error_code ?? '') }
  }
  const resumed = v.safeParse(ResumedMessageSchema, frame)
  if (resumed.success) return { kind: 'resumed', complete: resumed.output.messageData.complete }
  const pong = v.safeParse(PongMessageSchema, frame)
  return pong.success ? { kind: 'pong', id: pong.output.messageData.id } : undefined
}

describe('[REL-70] readExtensionSignal', () => {
  it.each([...extensionMessages.server, ...serverMessages])('reads the signal, or none, of: $name', sample => {
    const { frame, signal } = { signal: undefined, ...sample }
    expect(read(JSON.stringify(frame))).toEqual(signal)
    expect(readBySchema(frame)).toEqual(signal)
  })

  it.each([
    ['a receipt without an id', { persona: 'metadata', role: 'receipt', messageData: { duplicate: true } }, undefined],
    ['a receipt with an empty id', { persona: 'metadata', role: 'receipt', messageData: { messageId: '' } }, undefined],
    ['a receipt of the agent', { persona: 'agent', role: 'receipt', messageData: { messageId: 'a' } }, undefined],
    [
      'an odd duplicate',
      { persona: 'metadata', role: 'receipt', messageData: { messageId: 'a', duplicate: 1 } },
      { kind: 'receipt', messageId: 'a', duplicate: false },
    ],
    [
      'a resumed without data',
      { persona: 'metadata', role: 'resumed', messageData: null },
      { kind: 'resumed', complete: false },
    ],
    ['a pong with a number', { persona: 'metadata', role: 'pong', messageData: { id: 5 } }, undefined],
  ])('is lenient with %s', (_, frame, signal) => {
    expect(read(JSON.stringify(frame))).toEqual(signal)
  })

  it('agrees with the schemas on every frame', () => {
    const value = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom<unknown>('a', '', true, false, null, 0, 7, [], {}) },
      { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
    )
    const data = fc.record(
      { messageId: value, duplicate: value, complete: value, id: value, error_code: value },
      { requiredKeys: [] },
    )
    const frame = fc.record(
      {
        persona: fc.constantFrom('metadata', 'metadata', 'metadata', 'agent'),
        role: fc.constantFrom('receipt', 'resumed', 'pong', 'error', 'ping', 'heartbeat'),
        messageData: fc.oneof({ weight: 9, arbitrary: data }, { weight: 1, arbitrary: value }),
      },
      { requiredKeys: ['persona', 'role'] },
    )
    fc.assert(
      fc.property(frame, given => {
        const text = JSON.stringify(given)
        expect(read(text)).toEqual(readBySchema(JSON.parse(text)))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('[REL-70] the encode helpers', () => {
  it('write what the readers read', () => {
    expect(read(encodeReceipt('id-1', true))).toEqual({ kind: 'receipt', messageId: 'id-1', duplicate: true })
    expect(read(encodeResumed(false))).toEqual({ kind: 'resumed', complete: false })
    expect(read(encodePong('p "1"'))).toEqual({ kind: 'pong', id: 'p "1"' })
    expect(readClientIntent(parseClientMessage(encodePing('p-1')))).toEqual({ kind: 'ping', id: 'p-1' })
    expect(v.is(PingMessageSchema, JSON.parse(encodePing('p-1')))).toBe(true)
  })

  it.each(clientMessages)('add an id to: $name', ({ frame }) => {
    const text = addMessageId(encodeMessage(frame), 'id "1"')
    expect(parseClientMessage(text)).toEqual({ ...frame, messageId: 'id "1"' })
  })

  it('add an id to a content alone', () => {
    expect(addMessageId(encodeText('customer', 'human', 'hi'), 'id-1')).toBe(
      '{"persona":"customer","role":"human","content":"hi","messageId":"id-1"}',
    )
  })
})

describe('[REL-70] parseClientMessage', () => {
  it.each(['', 5, null, ['a']])('reads a messageId of %j as absent', messageId => {
    expect(parseClientMessage(JSON.stringify({ persona: 'customer', role: 'human', messageId }))).toEqual({
      persona: 'customer',
      role: 'human',
    })
  })
})

describe('[REL-70] readLastSeq', () => {
  it.each([
    ['0', 0],
    ['17', 17],
    ['007', 7],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740992', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['', undefined],
    ['abc', undefined],
    [null, undefined],
  ])('reads %j as %j', (value, seq) => {
    expect(readLastSeq(value)).toBe(seq)
  })
})

describe('a fencing number', () => {
  const now = Date.UTC(2026, 0, 15)
  const day = 86_400_000

  it('[REL-143] is at most a day ahead of the clock, in an address and in a reason', () => {
    for (const fence of [1, now - day, now, now + day]) {
      expect(readFence(String(fence), now)).toBe(fence)
      expect(readFencedReason(fencedReason(fence), now)).toBe(fence)
    }
    for (const fence of [now + day + 1, now * 2, Number.MAX_SAFE_INTEGER, 0]) {
      expect(readFence(String(fence), now)).toBeUndefined()
      expect(readFencedReason(fencedReason(fence), now)).toBeUndefined()
    }
    expect(readFencedReason(fencedReason(Number.MAX_SAFE_INTEGER))).toBeUndefined()
  })
})
