import type { ConversationErrorCode } from '@aiagent/view'
import { describe, expect, it } from 'vitest'
import { errorSentence, loadChatStrings } from '../strings.ts'

const CODES: Record<ConversationErrorCode, true> = {
  service_unavailable: true,
  login_required: true,
  queue_full: true,
  reload_required: true,
  action_failed: true,
  desk_failed: true,
  desk_message_failed: true,
  not_available: true,
  agent_destroyed: true,
}

describe('the sentences about errors', () => {
  it.each(['en', 'de', 'ar'])('[REL-198] are there for every code in %s', async code => {
    const strings = await loadChatStrings([code])
    const sentences = Object.keys(CODES).map(name => errorSentence(name as ConversationErrorCode, strings))
    for (const sentence of sentences) expect(sentence).toMatch(/\S \S/)
    expect(strings.language).toBe(code)
    expect(new Set(sentences).size).toBeGreaterThan(5)
  })

  it('[REL-198] are those of the chat, in the first language that has texts', async () => {
    const strings = await loadChatStrings([undefined, 'xx', 'de-CH', 'en'])
    expect(errorSentence('service_unavailable', strings)).toBe(strings.errorText)
    expect(errorSentence('queue_full', { ...strings, errorQueueFull: 'Moment.' })).toBe('Moment.')
    expect((await loadChatStrings([])).language).toBe('en')
  })
})
