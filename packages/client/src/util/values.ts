/** The object in a text of JSON; undefined for anything else. */
export function objectIn(text: string | null): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = JSON.parse(text ?? 'null')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A copy of a value of JSON, also where there is no `structuredClone`. Undefined stays undefined. */
export function copyJson<T>(value: T): T {
  return value === undefined ? value : JSON.parse(JSON.stringify(value))
}

/** Whether a value has objects or lists in more than so many levels, itself included. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const inner of Object.values(value)) if (isDeeperThan(levels - 1, inner)) return true
  return false
}

/** Whether a value is a promise of any implementation. */
export function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as PromiseLike<T> | null | undefined)?.then === 'function'
}

/** An empty object that cannot be changed, for options that a host leaves out. One for all agents. */
export const NOTHING: Readonly<Record<string, never>> = /* @__PURE__ */ Object.freeze({})

/**
 * An object with private members, which a proxy does not have. Vue's `reactive()` leaves alone all but plain objects, and knows those
 * by this name. A base class, since minifiers keep every class with a computed key, also an unused one.
 */
export abstract class Opaque {
  get [Symbol.toStringTag](): string {
    return 'AiAgentSdk'
  }
}
