import * as v from 'valibot'

const text = v.pipe(v.string(), v.nonEmpty('must not be empty'))
const whole = v.pipe(v.number(), v.integer('must be a whole number'))
const count = v.pipe(whole, v.minValue(1, 'must be 1 or more'))
const bytes = v.pipe(whole, v.minValue(0, 'must be 0 or more'))
const milliseconds = v.pipe(v.number(), v.finite(), v.minValue(0, 'must be 0 or more'))
const httpStatus = v.pipe(whole, v.minValue(200, 'must be 200 to 599'), v.maxValue(599, 'must be 200 to 599'))
const closeCode = v.pipe(whole, v.check(isCloseCode, 'must be 1000 to 1003, 1005 to 1014, or 3000 to 4999'))

/** Options of every lasting fault. */
const lasting = {
  /** Lifts it automatically after this many milliseconds. */
  forMs: v.exactOptional(milliseconds),
}
const counted = {
  ...lasting,
  /** How often it applies; without it, until it is lifted. */
  times: v.exactOptional(count),
  /** How many requests it skips first, so that the second page of a list can fail rather than the first. */
  after: v.exactOptional(count),
}
/** The session that it affects; without it, all sessions. */
const sessionId = v.exactOptional(text)
/**
 * The requests that it affects: a path with `*` for any characters, optionally after a method. Without it, all
 * requests.
 */
const route = v.exactOptional(text)
const direction = v.exactOptional(v.picklist(['to-client', 'to-service'], 'must be "to-client" or "to-service"'))

/** Faults that stay active until they are lifted, their time is over, or they have been applied often enough. */
const StandingFaultSchema = v.variant('kind', [
  /**
   * Nothing passes in either direction, including closes, while the connection looks open. It affects the connections
   * that are open now; with `alsoLater`, also later ones. When it is lifted, held frames pass, unless `lost`.
   */
  v.strictObject({
    kind: v.literal('silence'),
    sessionId,
    alsoLater: v.exactOptional(v.boolean()),
    lost: v.exactOptional(v.boolean()),
    ...lasting,
  }),
  /** Requests, including upgrades of chat connections, arrive later: by `ms`, and up to `jitterMs` more. */
  v.strictObject({
    kind: v.literal('delay-requests'),
    route,
    ms: milliseconds,
    jitterMs: v.exactOptional(milliseconds),
    ...counted,
  }),
  /** Frames arrive later: by `ms`, and up to `jitterMs` more; in order. In both directions by default. */
  v.strictObject({
    kind: v.literal('delay-frames'),
    sessionId,
    direction,
    ms: milliseconds,
    jitterMs: v.exactOptional(milliseconds),
    ...lasting,
  }),
  /** Frames are lost, each with the given chance, from 0 to 1; all of them without one. */
  v.strictObject({
    kind: v.literal('lose-frames'),
    sessionId,
    direction,
    chance: v.exactOptional(v.pipe(v.number(), v.minValue(0, 'must be 0 to 1'), v.maxValue(1, 'must be 0 to 1'))),
    ...counted,
  }),
  /** Receipts are not sent, although the frames were accepted. Only with the capability `receipts`. */
  v.strictObject({ kind: v.literal('lose-receipts'), sessionId, ...counted }),
  /** Pings get no pong. Only with a capability. */
  v.strictObject({ kind: v.literal('ignore-pings'), sessionId, ...counted }),
  /** The last three answers of a session are sent again, unchanged, after each opening, before its history. */
  v.strictObject({ kind: v.literal('repeat-answers'), sessionId, ...counted }),
  /** A link with so many bytes per second in each direction: response bodies and frames, or only one of the two. */
  v.strictObject({
    kind: v.literal('slow-link'),
    bytesPerSecond: v.pipe(v.number(), v.finite(), v.gtValue(0, 'must be above 0')),
    only: v.exactOptional(v.picklist(['requests', 'frames'], 'must be "requests" or "frames"')),
    ...lasting,
  }),
  /** Upgrades of chat connections are rejected with an HTTP status. */
  v.strictObject({ kind: v.literal('refuse-upgrade'), sessionId, status: httpStatus, ...counted }),
  /** Upgrades of chat connections get no response. They are handled when it is lifted. */
  v.strictObject({ kind: v.literal('hang-upgrade'), sessionId, ...counted }),
  /** Requests are answered with a status, without reaching the service. A body other than a string is sent as JSON. */
  v.strictObject({
    kind: v.literal('answer'),
    route,
    status: httpStatus,
    body: v.exactOptional(v.unknown()),
    headers: v.exactOptional(v.record(text, v.string())),
    ...counted,
  }),
  /**
   * Requests are answered with 429 and `Retry-After`, and messages of the customer with an error frame; both with the
   * code `429-001`. With `only`, one of the two.
   */
  v.strictObject({
    kind: v.literal('rate-limit'),
    route,
    sessionId,
    only: v.exactOptional(v.picklist(['requests', 'messages'], 'must be "requests" or "messages"')),
    retryAfterSeconds: v.exactOptional(bytes),
    /** The whole value of the header, in place of the seconds. */
    retryAfter: v.exactOptional(v.string()),
    ...counted,
  }),
  /** The connection ends before a request reaches the service: it gets no response. */
  v.strictObject({ kind: v.literal('cut-request'), route, ...counted }),
  /**
   * Answers of JSON to GET may be kept for so long, by `Cache-Control`. In process a cache as that of a browser keeps them: it answers the
   * next request to the same address, unless that one asks for a new answer.
   */
  v.strictObject({ kind: v.literal('cache-answers'), route, maxAgeSeconds: v.exactOptional(bytes), ...lasting }),
  /** Bodies of JSON, and frames to the client, begin with a byte order mark. */
  v.strictObject({ kind: v.literal('byte-order-mark'), route, sessionId, ...lasting }),
  /** Each list of a JSON body has one more entry, whose id is a number above 2^53. */
  v.strictObject({ kind: v.literal('large-ids'), route, ...lasting }),
  /** Chat connections break after so many milliseconds without a frame, as at a proxy. */
  v.strictObject({
    kind: v.literal('cut-idle'),
    sessionId,
    afterMs: v.pipe(milliseconds, v.gtValue(0, 'must be above 0')),
    ...lasting,
  }),
  /** Requests get no response. They reach the service when it is lifted. */
  v.strictObject({ kind: v.literal('hang-request'), route, ...counted }),
  /** The connection breaks in the middle of a response body: after so many bytes, by default after half of them. */
  v.strictObject({ kind: v.literal('truncate-body'), route, afterBytes: v.exactOptional(bytes), ...counted }),
  /** A response body stops after so many bytes, by default after half of them, and continues when it is lifted. */
  v.strictObject({ kind: v.literal('stall-body'), route, afterBytes: v.exactOptional(bytes), ...counted }),
])

/** Faults with an immediate effect. */
const SuddenFaultSchema = v.variant('kind', [
  /** Closes chat connections with a code; without one, or with 1006, they break without a close frame. */
  v.strictObject({
    kind: v.literal('drop'),
    sessionId,
    code: v.exactOptional(closeCode),
    reason: v.exactOptional(v.string()),
  }),
  /** Limits the lifetime of the tokens issued so far to this many seconds. @default 0 */
  v.strictObject({ kind: v.literal('expire-tokens'), secondsLeft: v.exactOptional(v.pipe(v.number(), v.finite())) }),
  /** Ends a session: closed with 1000, and rejected with 410 from then on. */
  v.strictObject({ kind: v.literal('end-session'), sessionId }),
  /** Removes a session: closed with 4404, and rejected with 404 from then on. */
  v.strictObject({ kind: v.literal('forget-session'), sessionId }),
  /** The agent says something by itself, also while no client is connected. */
  v.strictObject({
    kind: v.literal('say'),
    sessionId,
    content: v.string(),
    role: v.exactOptional(text),
    messageData: v.exactOptional(v.record(v.string(), v.unknown())),
  }),
  /** Sends a custom frame; text is sent unchanged, valid or not. */
  v.strictObject({
    kind: v.literal('push'),
    sessionId,
    frame: v.union([v.string(), v.record(v.string(), v.unknown())], 'must be text or an object'),
  }),
  /** Repeats the last answer, or the last pushed frame, unchanged: its messageId is the same. */
  v.strictObject({ kind: v.literal('replay'), sessionId, times: v.exactOptional(count) }),
  /**
   * Restarts the service: connections are closed with the code (1001; 1006 breaks them), requests in work fail, and
   * nothing answers for `downMs`. With `memory: false` all sessions are forgotten; tokens stay good either way.
   */
  v.strictObject({
    kind: v.literal('restart'),
    memory: v.exactOptional(v.boolean()),
    downMs: v.exactOptional(milliseconds),
    code: v.exactOptional(closeCode),
  }),
  /** Lifts the active faults: all, or those of one kind. */
  v.strictObject({ kind: v.literal('lift'), of: v.exactOptional(v.picklist(standingKinds())) }),
])

export const FaultSchema = v.variant('kind', [StandingFaultSchema, SuddenFaultSchema])

/** A fault, as plain data: the same in the API, over HTTP and in a schedule file. */
export type Fault = v.InferOutput<typeof FaultSchema>
/** A fault that stays active until it is lifted, its time is over, or it has been applied often enough. */
export type StandingFault = v.InferOutput<typeof StandingFaultSchema>
/** A fault with an immediate effect. */
export type SuddenFault = v.InferOutput<typeof SuddenFaultSchema>
/** A kind of lasting fault. */
export type StandingKind = StandingFault['kind']
/** The fault of a kind. */
export type FaultOf<K extends Fault['kind']> = Extract<Fault, { kind: K }>

/** A fault, or a schedule of faults, that is invalid. */
export class FaultError extends Error {
  /** Name of the class, for logs. */
  override readonly name = 'FaultError'
}

/**
 * Parses a fault from data of any origin.
 *
 * @param at its place in an error message
 * @throws {FaultError} when it is invalid, naming the wrong field
 */
export function parseFault(value: unknown, at = 'The fault'): Fault {
  const result = v.safeParse(FaultSchema, value)
  if (result.success) return result.output
  throw new FaultError(`${at} cannot be understood: ${describeIssues(result.issues)}.`)
}

export function isStanding(fault: Fault): fault is StandingFault {
  return STANDING.has(fault.kind)
}

const STANDING: ReadonlySet<string> = new Set(standingKinds())

function standingKinds(): [StandingKind, ...StandingKind[]] {
  return StandingFaultSchema.options.map(option => option.entries.kind.literal) as [StandingKind, ...StandingKind[]]
}

/** The problems of external data, field by field, in one line. */
export function describeIssues(issues: readonly v.BaseIssue<unknown>[]): string {
  return issues
    .map(issue => {
      const path = v.getDotPath(issue)
      if (issue.type === 'strict_object' && issue.expected === 'never') return `there is no field ${issue.received}`
      if (issue.type === 'strict_object' && issue.received === 'undefined') return `${issue.expected} is missing`
      if (issue.type === 'variant' && path !== null)
        return `"${path}" must be one of ${issue.expected}, not ${issue.received}`
      const custom = issue.message.startsWith('Invalid') ? undefined : issue.message
      const complaint = custom ?? `must be ${issue.expected ?? 'something else'}, not ${issue.received}`
      return path === null ? `it ${complaint.replace('Object', 'an object')}` : `"${path}" ${complaint}`
    })
    .join('; ')
}

/** 1005 and 1006 are never sent; they mean a close without a status, and a broken connection. */
function isCloseCode(code: number): boolean {
  return (code >= 1000 && code <= 1014 && code !== 1004) || (code >= 3000 && code <= 4999)
}
