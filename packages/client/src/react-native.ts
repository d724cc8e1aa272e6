/**
 * The client in React Native: its platform and its store, from modules that the host brings itself.
 *
 * @module
 */
export {
  type AbortGlobals,
  type AppStateLike,
  completeAbortSignals,
  type NativeParts,
  type NetInfoLike,
  type NetInfoStateLike,
  nativeEnvironment,
} from './platform/native-environment.ts'
export {
  type AsyncStorageCacheOptions,
  type AsyncStorageLike,
  asyncStorageCacheAdapter,
} from './storage/async-storage-cache-adapter.ts'
