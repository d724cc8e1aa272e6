import { type CacheAdapter, type CacheEntry, MemoryCacheAdapter } from '@aiagent/client'

/** What a conversation stores: its fields as they were read at the take-over, and as they were written since. */
export interface StoredFields {
  readonly fields: Map<string, string>
  set(field: string, value: string): void
  delete(field: string): void
}

/** Start of the fields that the agent stores. */
const FIELD = 'agent:'

/**
 * The start of an agent's keys. It names the fencing number, so that an agent of an earlier lease stores nothing. An id
 * may contain half of a surrogate pair, which JSON escapes.
 */
export function keyPrefix(shard: number, number: number, conversationId: string): string {
  return `fleet:${shard}:${number}:${encodeURIComponent(JSON.stringify(conversationId))}:`
}

/**
 * The store of all agents of a worker.
 *
 * What belongs to a conversation is answered from memory, where it was loaded before the agent was created, and written
 * behind, fenced. So a store that hangs never makes an agent believe that it has no session. Everything else (tokens and
 * responses) is shared in memory, up to the limits of a `MemoryCacheAdapter`.
 */
export class ConversationStore implements CacheAdapter {
  readonly #shared = new MemoryCacheAdapter()
  readonly #find: (shard: number, number: number, conversationId: string) => StoredFields | undefined

  constructor(find: (shard: number, number: number, conversationId: string) => StoredFields | undefined) {
    this.#find = find
  }

  get(key: string): CacheEntry | null {
    const place = this.#place(key)
    if (!place) return this.#shared.get(key)
    const text = place.stored?.fields.get(place.field)
    return text === undefined ? null : (JSON.parse(text) as CacheEntry)
  }

  set(key: string, entry: CacheEntry): void {
    const place = this.#place(key)
    if (!place) this.#shared.set(key, entry)
    else place.stored?.set(place.field, JSON.stringify(entry))
  }

  delete(key: string): void {
    const place = this.#place(key)
    if (!place) this.#shared.delete(key)
    else place.stored?.delete(place.field)
  }

  clear(prefix = ''): void {
    for (const key of this.keys(prefix)) this.delete(key)
  }

  keys(prefix = ''): string[] {
    const place = this.#place(prefix)
    if (!place) return this.#shared.keys(prefix)
    const start = prefix.slice(0, prefix.length - (place.field.length - FIELD.length))
    const fields = [...(place.stored?.fields.keys() ?? [])].filter(field => field.startsWith(place.field))
    return fields.map(field => start + field.slice(FIELD.length))
  }

  #place(key: string): { stored: StoredFields | undefined; field: string } | undefined {
    const [, shard, number, id, rest] = /^fleet:(\d+):(\d+):([^:]*):(.*)$/s.exec(key) ?? []
    if (shard === undefined || id === undefined) return undefined
    return {
      stored: this.#find(Number(shard), Number(number), JSON.parse(decodeURIComponent(id))),
      field: `${FIELD}${rest}`,
    }
  }
}
