import { assertType, describe, it } from 'vitest'
import type {
  AbortGlobals,
  AppStateLike,
  AsyncStorageCacheOptions,
  AsyncStorageLike,
  NativeParts,
  NetInfoLike,
  NetInfoStateLike,
} from './react-native.ts'

declare const appState: AppStateLike
declare const getRandomValues: NativeParts['getRandomValues']
declare const storage: AsyncStorageLike

describe('the parts of React Native', () => {
  it('are what its modules have', () => {
    assertType<AbortGlobals>(globalThis)
    assertType<AppStateLike>({ currentState: 'active', addEventListener: () => ({ remove: () => {} }) })
    assertType<NetInfoLike>({ addEventListener: () => () => {} })
    assertType<NetInfoStateLike>({ type: 'wifi', isConnected: null })
    assertType<AsyncStorageLike>({ ...storage, getAllKeys: async () => ['a'] })
    assertType<AsyncStorageCacheOptions>({ prefix: 'app:' })
    assertType<NativeParts>({ getRandomValues, appState, random: () => 0.5 })
  })

  it('reject what is none of them', () => {
    // @ts-expect-error no AbortSignal
    assertType<AbortGlobals>({ AbortController })
    // @ts-expect-error the subscription has no remove()
    assertType<AppStateLike>({ addEventListener: () => ({}) })
    // @ts-expect-error no undo
    assertType<NetInfoLike>({ addEventListener: () => 1 })
    // @ts-expect-error no isConnected
    assertType<NetInfoStateLike>({ type: 'wifi' })
    // @ts-expect-error keys are texts
    assertType<AsyncStorageLike>({ ...storage, getAllKeys: async () => [1] })
    // @ts-expect-error not a text
    assertType<AsyncStorageCacheOptions>({ prefix: 1 })
    // @ts-expect-error no appState
    assertType<NativeParts>({ getRandomValues })
  })
})
