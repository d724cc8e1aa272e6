/**
 * Stores that programs share, by any driver of the package `unstorage`, which the host brings itself.
 *
 * @module
 */
export {
  type UnstorageCacheOptions,
  type UnstorageLike,
  unstorageCacheAdapter,
} from './storage/unstorage-cache-adapter.ts'
