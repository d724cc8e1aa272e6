import type { CanaryKind, CanaryPlace } from './canary.ts'

/** A place where a planted value is not a leak. Absent fields match everything. */
export interface Allowance {
  /** Kind of the planted value. @default any */
  readonly kind?: CanaryKind
  /** Where the value was planted. @default any */
  readonly place?: CanaryPlace
  /** Name of the sink, such as `console` or `local storage`. */
  readonly sink: string | RegExp
  /** The place in the sink: a key, a method and path, the name of a span. */
  readonly where?: RegExp
  /** The reason, for the readers of a test. */
  readonly because: string
}

/** Names of the stores of a page and of an agent in Node. */
const STORE = /^(?:local storage|session storage|IndexedDB)$/

/** What the protocol and the documented stores of the client need. */
export const ALLOWANCES: readonly Allowance[] = [
  {
    place: 'context',
    sink: 'request body',
    where: /^service POST .*\/session$/,
    because: 'a session starts with its context',
  },
  { place: 'context', sink: 'frame', where: /^system\/context$/, because: 'the host sends context to the agent' },
  { place: 'context', sink: STORE, where: /context_/, because: 'the context survives a reload' },
  {
    kind: 'token',
    place: 'token',
    sink: 'request header',
    where: /^service .* authorization$/,
    because: 'a request carries its token',
  },
  {
    kind: 'token',
    place: 'token',
    sink: 'frame',
    where: /^metadata\/token$/,
    because: 'the service asks for a new token',
  },
  { place: 'session', sink: 'URL', where: /^chat /, because: 'the address of the chat names the session' },
  {
    place: 'session',
    sink: 'URL',
    where: /^service GET .*\/conversations\/sessions\//,
    because: 'the earlier messages of a session are requested by its id',
  },
  {
    place: 'session',
    sink: 'console',
    where: /^of the browser$/,
    because: 'a browser prints the address of a connection that fails, and a page cannot prevent that',
  },
  { place: 'session', sink: 'session storage', because: 'a session survives a reload with `resume`' },
  { place: 'answer', sink: 'export', because: 'an export holds what the agent said' },
  { place: 'error', sink: 'export', because: 'an export holds what the service reported in the chat' },
  {
    place: 'session',
    sink: 'export',
    where: /^getTranscriptAsJSON\(\)$/,
    because: 'an entry of the transcript names its session',
  },
]

/** The facts of an occurrence that an allowance looks at. */
export interface Occurred {
  readonly kind: CanaryKind
  readonly place: CanaryPlace
  readonly sink: string
  readonly where: string
}

/** Whether one of the allowances matches. */
export const isAllowed = (allowances: readonly Allowance[], { kind, place, sink, where }: Occurred): boolean =>
  allowances.some(
    each =>
      (each.kind === undefined || each.kind === kind) &&
      (each.place === undefined || each.place === place) &&
      (typeof each.sink === 'string' ? each.sink === sink : each.sink.test(sink)) &&
      (each.where === undefined || each.where.test(where)),
  )
