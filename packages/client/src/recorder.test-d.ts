import { assertType, describe, it } from 'vitest'
import type { RecorderOptions, Trace, TraceEntry, TraceFrame, TraceRecorder, TraceText } from './recorder.ts'
import { createRecorder } from './recorder.ts'

describe('types of the recorder', () => {
  it('RecorderOptions, TraceRecorder', () => {
    assertType<RecorderOptions>({ content: true, limit: 10 })
    // @ts-expect-error a number of entries
    assertType<RecorderOptions>({ limit: '10' })
    assertType<TraceRecorder>(createRecorder())
    // @ts-expect-error a recorder has three methods
    assertType<TraceRecorder>({ exportTrace: () => createRecorder().exportTrace() })
  })

  it('Trace, TraceEntry, TraceFrame, TraceText', () => {
    assertType<Trace>(createRecorder().exportTrace())
    // @ts-expect-error the version is a number
    assertType<Trace>({ ...createRecorder().exportTrace(), version: '1' })
    assertType<TraceEntry>({ t: 1, kind: 'open', socket: 1 })
    // @ts-expect-error a frame belongs to a socket
    assertType<TraceEntry>({ t: 1, kind: 'sent', frame: { persona: 'customer', role: 'human' } })
    assertType<TraceFrame>({ persona: 'agent', role: 'agent', data: { complete: true } })
    // @ts-expect-error the role is missing
    assertType<TraceFrame>({ persona: 'agent' })
    assertType<TraceText>('#0123:5')
    // @ts-expect-error a text
    assertType<TraceText>(5)
  })
})
