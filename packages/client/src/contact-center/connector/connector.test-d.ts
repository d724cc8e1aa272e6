import { assertType, describe, expectTypeOf, it } from 'vitest'
import type {
  AiAgentConnectorConfig,
  CallerInfo,
  CallTranscriptEntry,
  HookContract,
  PlatformComponentService,
} from '../../index.ts'
import type { EnvironmentName } from '../../init-params.ts'
import type { CallTranscriptInput, CallTranscriptUpdate, FilterTags, UserContext } from './call-details.ts'
import type { IntentConfirm, SourceClick, WidgetActionListener } from './hook-contract.ts'

declare const hook: HookContract

const entry = { sender: 'customer', content: 'My parcel is late', timestamp: new Date(0) }

describe('types of a call', () => {
  it('CallerInfo contains the known fields, and any others', () => {
    assertType<CallerInfo>({ name: 'Customer', loyalty: { years: 3 } })
    // @ts-expect-error a name is a string
    assertType<CallerInfo>({ name: 7 })
  })

  it('CallTranscriptEntry has a speaker, a text and a time', () => {
    assertType<CallTranscriptEntry>(entry)
    // @ts-expect-error the time is a Date
    assertType<CallTranscriptEntry>({ ...entry, timestamp: 0 })
  })

  it('CallTranscriptInput accepts any form of time, or none', () => {
    assertType<CallTranscriptInput>({ sender: 'customer', content: 'My parcel is late' })
    assertType<CallTranscriptInput>({ ...entry, timestamp: '2026-01-01T00:00:00Z' })
    // @ts-expect-error the text is missing
    assertType<CallTranscriptInput>({ sender: 'customer' })
  })

  it('CallTranscriptUpdate contains the whole list', () => {
    assertType<CallTranscriptUpdate>({ entries: [] })
    assertType<CallTranscriptUpdate>({ entry, entries: [entry] })
    // @ts-expect-error the list is missing
    assertType<CallTranscriptUpdate>({ entry })
  })

  it('UserContext and FilterTags are values by name', () => {
    assertType<UserContext>({ queue: 'returns', attempts: 2 })
    // @ts-expect-error a list has no names
    assertType<UserContext>(['returns'])
    assertType<FilterTags>({ product: ['router'] })
    // @ts-expect-error a string has no names
    assertType<FilterTags>('router')
  })
})

describe('a connector', () => {
  it('AiAgentConnectorConfig has base addresses by environment', () => {
    assertType<AiAgentConnectorConfig>({ baseUrls: { prod: 'https://desk.example.test' }, allowedOrigins: [] })
    // @ts-expect-error unknown environment
    assertType<AiAgentConnectorConfig>({ baseUrls: { staging: 'https://desk.example.test' } })
  })

  it('EnvironmentName is one of four', () => {
    expectTypeOf<EnvironmentName>().toEqualTypeOf<'dev' | 'qa' | 'non-prod' | 'prod'>()
    // @ts-expect-error names are abbreviated
    assertType<EnvironmentName>('production')
  })

  it('HookContract has asynchronous and synchronous members', () => {
    assertType<HookContract>({ ...hook, getUserId: () => null })
    expectTypeOf<HookContract['getAccessToken']>().returns.resolves.toBeString()
    expectTypeOf<HookContract['getMsalAccessToken']>().returns.toEqualTypeOf<string | null>()
    // @ts-expect-error getAccessToken() is asynchronous
    assertType<HookContract>({ ...hook, getAccessToken: () => 'secret' })
  })

  it('[ADOPT-14] the global of a script has the type of a component', () => {
    globalThis.PlatformComponentService = { initPlatform: hook => hook.setConversationId('call-7') }
    window.PlatformComponentService = { initPlatform() {}, getPortalList: portals => portals.slice(1) }
    // @ts-expect-error a function of the component is misspelt
    window.PlatformComponentService = { initPlatform() {}, getPortalsList: () => [] }
  })

  it('PlatformComponentService requires initPlatform(); the others are optional', () => {
    assertType<PlatformComponentService>({ initPlatform() {} })
    assertType<PlatformComponentService>({ async initPlatform() {}, getDefaultPortal: portals => portals[0] })
    // @ts-expect-error initPlatform() is missing
    assertType<PlatformComponentService>({ getDefaultPortal: () => null })
    // @ts-expect-error scopes are a list
    assertType<PlatformComponentService>({ initPlatform() {}, addCustomAuthScopes: () => 'core.aiservices.read' })
  })
})

describe('the widget', () => {
  it('SourceClick has a title; other fields are optional', () => {
    assertType<SourceClick>({ id: 's-1', title: 'Returns', url: 'https://shop.example.test/returns', page: 3 })
    // @ts-expect-error the title is missing
    assertType<SourceClick>({ id: 's-1' })
  })

  it('IntentConfirm has an intent and a confidence', () => {
    assertType<IntentConfirm>({ id: 'i-1', intent: 'return', confidence: 0.9 })
    // @ts-expect-error confidence is a number
    assertType<IntentConfirm>({ id: 'i-1', intent: 'return', confidence: 'high' })
  })

  it('WidgetActionListener receives three actions', () => {
    assertType<WidgetActionListener>(action => {
      expectTypeOf(action).toEqualTypeOf<'message' | 'sourceClick' | 'intentConfirm'>()
    })
    // @ts-expect-error the listener must accept the other actions too
    assertType<WidgetActionListener>((action: 'message') => action)
  })
})
