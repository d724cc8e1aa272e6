import { ManualClock } from '@aiagent/test-support'
import { beforeEach, describe, expect, it } from 'vitest'
import { setUpScope } from '../../../test/fake-scope.ts'
import { ContextStore } from '../../chat/context-store.ts'
import type { AgentEventType, Emit } from '../../events.ts'
import { CallState } from './call-state.ts'

const clock = new ManualClock()

describe('CallState', () => {
  let told: [string, unknown][]
  let context: ContextStore
  let calls: CallState

  beforeEach(() => {
    told = []
    const scope = setUpScope({ config: { cache: { enabled: false } }, environment: { clock } })
    const emit: Emit<AgentEventType> = (name, payload) => void told.push([name, payload()])
    context = new ContextStore(scope)
    calls = new CallState(Object.assign(scope, { emit }), context)
  })

  it('is empty at first', () => {
    expect(calls.getTranscript()).toEqual([])
    expect([calls.getCallerInfo(), calls.getConversationId(), calls.getUserContext()]).toEqual([null, null, null])
    expect(calls.getPlatform()).toEqual({ authenticated: false, token: null })
    expect(told).toEqual([])
  })

  it('[EVT-03] reports each utterance of the call, with the whole transcript', () => {
    const timestamp = new Date('2026-01-01T00:00:00Z')
    calls.addToTranscript({ sender: 'customer', content: 'Hello', timestamp })
    calls.addToTranscript({ sender: 'agent', content: 'Good day' })
    const first = { sender: 'customer', content: 'Hello', timestamp }
    const second = { sender: 'agent', content: 'Good day', timestamp: new Date(clock.now()) }
    expect(told).toEqual([
      ['callTranscriptUpdate', { entry: first, entries: [first] }],
      ['callTranscriptUpdate', { entry: second, entries: [first, second] }],
    ])
    expect(calls.getTranscript()).toBe(calls.getTranscript())
    expect(Object.isFrozen(calls.getTranscript())).toBe(true)
  })

  it('[EVT-03] reports that the transcript was cleared, without an entry', () => {
    calls.addToTranscript({ sender: 'customer', content: 'Hello' })
    calls.clearTranscript()
    expect(told.at(-1)).toEqual(['callTranscriptUpdate', { entries: [] }])
    expect(told.at(-1)?.[1]).not.toHaveProperty('entry')
    expect(calls.getTranscript()).toEqual([])
  })

  it.each([[1_700_000_000_000], ['2023-11-14T22:13:20.000Z'], [new Date(1_700_000_000_000)]])(
    'converts %o to the time of an utterance',
    timestamp => {
      calls.addToTranscript({ sender: 'a', content: 'b', timestamp })
      expect(calls.getTranscript()[0]?.timestamp).toEqual(new Date(1_700_000_000_000))
    },
  )

  it('converts the values of an untyped script to text', () => {
    for (const input of [{ sender: 1, timestamp: 'yesterday' }, null, 'text', [1]])
      Reflect.apply(calls.addToTranscript, calls, [input])
    expect(calls.getTranscript()).toEqual([{ sender: '1', content: '', timestamp: new Date(clock.now()) }])
  })

  it('[EVT-03] stores a copy of the caller, and removes it on null', () => {
    const info = { name: 'Customer', phone: '1', language: 'en' }
    calls.setCallerInfo(info)
    info.name = 'Another'
    expect(calls.getCallerInfo()).toEqual({ name: 'Customer', phone: '1', language: 'en' })
    calls.setCallerInfo(null)
    expect(told).toEqual([
      ['callerInfoUpdate', { callerInfo: { name: 'Customer', phone: '1', language: 'en' } }],
      ['callerInfoUpdate', { callerInfo: null }],
    ])
  })

  it.each([
    ['call-1', 'call-1'],
    [' 7 ', '7'],
    [42, '42'],
    ['  ', null],
    [null, null],
  ])('[EVT-03] [WS-03] reports the conversation id %j as %j', (id, expected) => {
    calls.setConversationId(id)
    expect(calls.getConversationId()).toBe(expected)
    expect(told).toEqual([['conversationIdUpdate', { conversationId: expected }]])
  })

  it('[EVT-03] merges facts about the call by name, and reports all of them', () => {
    calls.setUserContext({ a: 1, b: { c: 1 } })
    calls.setUserContext({ b: { d: 2 } })
    expect(calls.getUserContext()).toEqual({ a: 1, b: { d: 2 } })
    expect(told.at(-1)).toEqual(['userContextUpdate', { userContext: { a: 1, b: { d: 2 } } }])
    Reflect.apply(calls.setUserContext, calls, ['text'])
    expect(told).toHaveLength(2)
  })

  it('[OPS-02] [EVT-03] merges filter tags into both contexts, each of which keeps its own', () => {
    context.merge({ plan: 'gold', user_filter_tags: { product: ['old'], stored: ['s'] } })
    calls.setUserContext({ desk: 'first', user_filter_tags: { called: ['c'] } })
    told.length = 0
    calls.setUserFilterTags({ product: ['router'], region: ['north', 'south'] })
    const tags = { called: ['c'], product: ['router'], region: ['north', 'south'] }
    expect(calls.getUserContext()).toEqual({ desk: 'first', user_filter_tags: tags })
    expect(context.get()).toEqual({
      plan: 'gold',
      user_filter_tags: { product: ['router'], region: ['north', 'south'], stored: ['s'] },
    })
    expect(told).toEqual([
      ['userContextUpdate', { userContext: { desk: 'first', user_filter_tags: tags } }],
      ['filterTagsUpdate', { filterTags: tags }],
    ])
  })

  it('replaces an invalid value of the tags attribute', () => {
    context.merge({ user_filter_tags: 'nonsense' })
    calls.setUserContext({ user_filter_tags: ['nonsense'] })
    calls.setUserFilterTags({ a: ['b'] })
    Reflect.apply(calls.setUserFilterTags, calls, [['no tags']])
    expect(context.get()).toEqual({ user_filter_tags: { a: ['b'] } })
    expect(calls.getUserContext()).toEqual({ user_filter_tags: { a: ['b'] } })
  })

  it('changes nothing when tags cannot be stored', () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    expect(() => calls.setUserFilterTags(circle)).toThrow(expect.objectContaining({ code: 'MESSAGE_ERROR' }))
    expect([calls.getUserContext(), context.get(), told]).toEqual([null, null, []])
  })

  it('stores the sign-in of the platform', () => {
    calls.setPlatformAuthenticated(true)
    calls.setPlatformToken('platform-token')
    expect(calls.getPlatform()).toEqual({ authenticated: true, token: 'platform-token' })
    calls.setPlatformAuthenticated(false)
    calls.setPlatformToken(null)
    expect(calls.getPlatform()).toEqual({ authenticated: false, token: null })
  })
})
