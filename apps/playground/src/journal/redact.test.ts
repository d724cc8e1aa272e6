import { createTokenMessage } from '@aiagent/client'
import { describe, expect, it } from 'vitest'
import { REDACTED, redactAddress, redactData, redactFrame } from './redact.ts'

const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl'

describe('redaction', () => {
  it('[PLAY-02] removes tokens by the name of their field and by their form', () => {
    const frame = redactFrame(JSON.stringify(createTokenMessage({ token: 'opaque' })))
    expect(frame.title).toBe('metadata · token')
    expect(frame.json).toContain(REDACTED)
    expect(JSON.stringify(frame)).not.toContain('opaque')
    expect(JSON.stringify(redactFrame(`{"persona":"x","role":"y","content":"look: ${TOKEN}"}`))).not.toContain('eyJ')
    expect(redactFrame(`not JSON ${TOKEN}`)).toMatchObject({ isReadable: false, summary: `not JSON ${REDACTED}` })
  })

  it('[PLAY-02] removes secrets at any depth, and nothing else', () => {
    const data = { options: ['a'], deep: [{ accessToken: 'x', sessionId: 's', sources: [{ title: 't' }] }], count: 2 }
    expect(redactData(data)).toEqual({
      options: ['a'],
      deep: [{ accessToken: REDACTED, sessionId: REDACTED, sources: [{ title: 't' }] }],
      count: 2,
    })
  })

  it('[PLAY-02] removes session ids and the values of queries from addresses', () => {
    expect(redactAddress('https://a.test/x/sessions/5a/transcript?sessionId=5a&lang=en')).toBe(
      '/x/sessions/…/transcript?sessionId=…&lang=…',
    )
    expect(redactAddress('nothing')).toBe('-')
  })
})
