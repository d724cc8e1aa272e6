import { toStored } from '../src/storage/cache-adapter.ts'

/** The text under which a store of the page has a value. */
export function storedText(value: unknown, timestamp = Date.now()): string {
  return JSON.stringify(toStored({ value, timestamp }))
}
