import { assertType, describe, expectTypeOf, it } from 'vitest'
import type {
  AiAgentConnectorConfig,
  CallerInfo,
  CallTranscriptEntry,
  CallTranscriptInput,
  CallTranscriptUpdate,
  EnvironmentName,
  FilterTags,
  HookContract,
  IntentConfirm,
  PlatformComponentService,
  SourceClick,
  UserContext,
  WidgetActionListener,
} from '../../index.ts'

declare const hook: HookContract

const entry = { sender: 'customer', content: 'My parcel is late', timestamp: new Date(0) }

describe('the call at the desk', () => {
  it('CallerInfo: what is known of who calls, and whatever a platform adds', () => {
    assertType<CallerInfo>({ name: 'Customer', loyalty: { years: 3 } })
    // @ts-expect-error a name is text
    assertType<CallerInfo>({ name: 7 })
  })

  it('CallTranscriptEntry: who said what, and when', () => {
    assertType<CallTranscriptEntry>(entry)
    // @ts-expect-error the moment is a Date
    assertType<CallTranscriptEntry>({ ...entry, timestamp: 0 })
  })

  it('CallTranscriptInput: the same, with a moment of any kind or none', () => {
    assertType<CallTranscriptInput>({ sender: 'customer', content: 'My parcel is late' })
    assertType<CallTranscriptInput>({ ...entry, timestamp: '2026-01-01T00:00:00Z' })
    // @ts-expect-error nothing was said
    assertType<CallTranscriptInput>({ sender: 'customer' })
  })

  it('CallTranscriptUpdate: always the whole list', () => {
    assertType<CallTranscriptUpdate>({ entries: [] })
    assertType<CallTranscriptUpdate>({ entry, entries: [entry] })
    // @ts-expect-error the list is missing
    assertType<CallTranscriptUpdate>({ entry })
  })

  it('UserContext, FilterTags: values by name', () => {
    assertType<UserContext>({ queue: 'returns', attempts: 2 })
    // @ts-expect-error a list has no names
    assertType<UserContext>(['returns'])
    assertType<FilterTags>({ product: ['router'] })
    // @ts-expect-error text has no names
    assertType<FilterTags>('router')
  })
})

describe('a connector', () => {
  it('AiAgentConnectorConfig: where scripts are published, by environment', () => {
    assertType<AiAgentConnectorConfig>({ baseUrls: { prod: 'https://desk.example.test' }, allowedOrigins: [] })
    // @ts-expect-error there is no such environment
    assertType<AiAgentConnectorConfig>({ baseUrls: { staging: 'https://desk.example.test' } })
  })

  it('EnvironmentName: one of four', () => {
    expectTypeOf<EnvironmentName>().toEqualTypeOf<'dev' | 'qa' | 'non-prod' | 'prod'>()
    // @ts-expect-error names are written short
    assertType<EnvironmentName>('production')
  })

  it('HookContract: tells and takes what a platform knows', () => {
    assertType<HookContract>({ ...hook, getUserId: () => null })
    expectTypeOf<HookContract['getAccessToken']>().returns.resolves.toBeString()
    expectTypeOf<HookContract['getMsalAccessToken']>().returns.toEqualTypeOf<string | null>()
    // @ts-expect-error a fresh token takes its time
    assertType<HookContract>({ ...hook, getAccessToken: () => 'secret' })
  })

  it('PlatformComponentService: connects, and the rest where it means something', () => {
    assertType<PlatformComponentService>({ initPlatform() {} })
    assertType<PlatformComponentService>({ async initPlatform() {}, getDefaultPortal: portals => portals[0] })
    // @ts-expect-error a component that does not connect is none
    assertType<PlatformComponentService>({ getDefaultPortal: () => null })
    // @ts-expect-error scopes are a list
    assertType<PlatformComponentService>({ initPlatform() {}, addCustomAuthScopes: () => 'core.aiservices.read' })
  })
})

describe('the widget', () => {
  it('SourceClick: a passage, with whatever goes along', () => {
    assertType<SourceClick>({ id: 's-1', title: 'Returns', url: 'https://shop.example.test/returns', page: 3 })
    // @ts-expect-error a passage has a title
    assertType<SourceClick>({ id: 's-1' })
  })

  it('IntentConfirm: an intent, and how sure it is', () => {
    assertType<IntentConfirm>({ id: 'i-1', intent: 'return', confidence: 0.9 })
    // @ts-expect-error confidence is a number
    assertType<IntentConfirm>({ id: 'i-1', intent: 'return', confidence: 'high' })
  })

  it('WidgetActionListener: hears of three actions', () => {
    assertType<WidgetActionListener>(action => {
      expectTypeOf(action).toEqualTypeOf<'message' | 'sourceClick' | 'intentConfirm'>()
    })
    // @ts-expect-error there are other actions than this one
    assertType<WidgetActionListener>((action: 'message') => action)
  })
})
