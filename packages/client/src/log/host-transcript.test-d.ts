import { assertType, describe, expectTypeOf, it } from 'vitest'
import {
  Message,
  Transcript,
  type TranscriptConfig,
  type TranscriptEntry,
  type TranscriptOptions,
  type TranscriptRow,
} from '../index.ts'
import type { TranscriptMessageType } from './entry.ts'

const entry: TranscriptEntry = {
  id: 'e-1',
  message: new Message('customer', 'human', 'Hello'),
  direction: 'sent',
  timestamp: 0,
  sessionId: 's-1',
  agentId: undefined,
}

describe('the transcript', () => {
  it('Transcript: entries to read, never to change', () => {
    assertType<Transcript>(new Transcript({ maxEntries: 100 }))
    expectTypeOf<Transcript['get']>().returns.toEqualTypeOf<readonly TranscriptEntry[]>()
    // @ts-expect-error a list of entries has no filters
    assertType<Transcript>([entry])
  })

  it('TranscriptEntry: a message with its direction and moment', () => {
    assertType<TranscriptEntry>(entry)
    // @ts-expect-error directions are seen from the host
    assertType<TranscriptEntry>({ ...entry, direction: 'outbound' })
    // @ts-expect-error an entry is to be read
    entry.timestamp = 1
  })

  it('TranscriptConfig, TranscriptMessageType: what is kept', () => {
    assertType<TranscriptConfig>({ enabled: true, excludeRoles: ['heartbeat'], includeMessageTypes: ['agent_message'] })
    // @ts-expect-error there is no such kind of message
    assertType<TranscriptConfig>({ includeMessageTypes: ['token_message'] })
    assertType<TranscriptMessageType>('customer_message')
    // @ts-expect-error tokens are never kept
    assertType<TranscriptMessageType>('token_refresh_required')
  })

  it('TranscriptOptions: what is read', () => {
    assertType<TranscriptOptions>({ fromTimestamp: 0, direction: 'both', persona: 'agent' })
    // @ts-expect-error a moment is a number of milliseconds
    assertType<TranscriptOptions>({ fromTimestamp: new Date(0) })
  })

  it('TranscriptRow: plain data, every field there', () => {
    const rows = new Transcript().toJSON()
    expectTypeOf(rows).toEqualTypeOf<TranscriptRow[]>()
    const known = { persona: 'customer', role: 'human', content: 'Hello', messageId: 'm-1', messageData: undefined }
    const place = { from: undefined, to: undefined, agentId: 'help', sessionId: 's-1', timestamp: 0 }
    assertType<TranscriptRow>({ ...known, ...place, direction: 'sent', entryTimestamp: 0 })
    // @ts-expect-error the entry's own moment is missing
    assertType<TranscriptRow>({ ...known, ...place, direction: 'sent' })
  })
})
