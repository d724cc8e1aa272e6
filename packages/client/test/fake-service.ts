import { ManualClock } from '@aiagent/test-support'
import { resolveEnvironment } from '../src/platform/default-environment.ts'
import type { Environment, StorageLike } from '../src/platform/environment.ts'
import { MemoryCacheAdapter } from '../src/storage/memory-cache-adapter.ts'

export interface SeenRequest {
  method: string
  url: string
  path: string
  headers: Headers
  credentials: RequestCredentials | undefined
  body: string
}

type Answer = unknown | ((request: SeenRequest) => unknown)

/** A service with a table of responses: method and path to a body, a Response, a promise, or a function of the request. */
export class FakeService {
  readonly seen: SeenRequest[] = []
  readonly clock = new ManualClock()
  readonly #answers = new Map<string, Answer>()

  /** @param route as `GET /system/deploymentInfo` */
  on(route: string, answer: Answer): this {
    this.#answers.set(route, answer)
    return this
  }

  fetch = async (input: string, init: RequestInit = {}): Promise<Response> => {
    const { pathname } = new URL(input)
    const method = init.method ?? 'GET'
    const request = {
      method,
      url: input,
      path: pathname,
      headers: new Headers(init.headers),
      credentials: init.credentials,
      body: String(init.body ?? ''),
    }
    this.seen.push(request)
    const answer = this.#answers.get(`${method} ${pathname}`)
    if (answer === undefined) return new Response('{"code":"404-001","message":"unknown route"}', { status: 404 })
    const value: unknown = await (typeof answer === 'function' ? answer(request) : answer)
    return value instanceof Response ? value : Response.json(value)
  }

  /** A new environment with empty stores. */
  environment(overrides: Partial<Environment> = {}): Environment {
    return resolveEnvironment({ fetch: this.fetch, clock: this.clock, memory: new MemoryCacheAdapter(), ...overrides })
  }
}

/** A token with a readable payload and an invalid signature. */
export function fakeToken(claims: Record<string, unknown>): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${encode({ alg: 'none' })}.${encode(claims)}.signature`
}

/** An in-memory `Storage`. */
export class FakeStorage implements StorageLike {
  readonly items = new Map<string, string>()
  /** Set to make every write throw, as in a full or blocked storage. */
  full = false

  get length(): number {
    return this.items.size
  }
  getItem(key: string): string | null {
    return this.items.get(key) ?? null
  }
  setItem(key: string, value: string): void {
    if (this.full) throw new DOMException('The quota has been exceeded.', 'QuotaExceededError')
    this.items.set(key, value)
  }
  removeItem(key: string): void {
    this.items.delete(key)
  }
  key(index: number): string | null {
    return [...this.items.keys()][index] ?? null
  }
}
