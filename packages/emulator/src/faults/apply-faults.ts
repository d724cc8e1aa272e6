import { SERVICE_ERROR_CODE } from '@aiagent/protocol'
import type { MiddlewareHandler } from 'hono'
import type { Random } from '../random.ts'
import type { FaultOf } from './fault.ts'
import type { FaultRules, Rule } from './fault-rules.ts'
import { type BodyTrouble, troubleBody } from './faulty-body.ts'
import type { PendingWaits } from './pending-waits.ts'

/** The parts of the fault system that requests and upgrades use. */
export interface RequestFaults {
  readonly rules: FaultRules
  readonly waits: PendingWaits
  readonly random: Random
}

/** Functions that let a fault break the connection of a request. */
export interface RequestConnection {
  /** Closes the connection of the request after the bytes written so far are sent. */
  cut?: () => void
  /** Closes the connection at once. */
  abandon?: () => void
}

/** What the handlers of a request share. */
export interface RequestEnv {
  Bindings: RequestConnection
  Variables: {
    /** Id of the fault that spoiled it. */
    fault?: string
  }
}

/** Status for the recording of a request that the client aborted, or whose service has stopped. No client reads it. */
const GONE = 499
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** Applies the active faults to each request, before and after the service handles it. */
export function applyFaults(faults: RequestFaults): MiddlewareHandler<RequestEnv> {
  const { rules, waits } = faults
  return async (c, next) => {
    if (rules.isEmpty) return next()
    const { method, path } = c.req
    const { signal } = c.req.raw
    const concerned = (rule: Rule) => rule.concerns(method, path)
    const abandon = () => {
      c.env?.abandon?.()
      return c.body(null, GONE as 400)
    }

    const delayMs = requestDelay(faults, concerned)
    if (delayMs > 0 && (await waits.pause(delayMs, signal)) === 'gone') return abandon()
    const hanging = rules.strike('hang-request', concerned)
    if (hanging && (await waits.untilCalled(hanging.onLift, signal)) === 'gone') return abandon()

    const limited = rules.strike('rate-limit', rule => rule.fault.only !== 'messages' && concerned(rule))
    const answer = limited ? undefined : rules.strike('answer', concerned)
    if (limited) c.res = tooManyRequests(limited.fault)
    else if (answer) c.res = fixedResponse(answer.fault)
    else await next()
    const altered = await alterBody(c.res, rules, concerned)
    const trouble = bodyTrouble(rules, concerned)
    const spoiled = limited ?? answer ?? trouble?.truncated
    if (spoiled) c.set('fault', spoiled.id)
    if (!trouble && altered === c.res) return
    const response = trouble ? await troubleBody(altered, trouble, { waits, signal, cut: c.env?.cut }) : altered
    // Hono would carry the headers over from the response before.
    c.res = undefined
    c.res = response
  }
}

/** Delay of a request, by all faults that apply to it. */
export function requestDelay({ rules, random }: RequestFaults, concerned: (rule: Rule) => boolean): number {
  let sum = 0
  for (const each of rules.all('delay-requests')) {
    const rule = rules.strike('delay-requests', one => one === each && concerned(one))
    if (rule) sum += rule.fault.ms + (rule.fault.jitterMs === undefined ? 0 : random.next() * rule.fault.jitterMs)
  }
  return sum
}

/** The response with what is odd about its JSON; the same one where nothing is. */
async function alterBody(response: Response, rules: FaultRules, concerned: (rule: Rule) => boolean): Promise<Response> {
  if (!isJson(response)) return response
  const hasLargeIds = rules.strike('large-ids', concerned)
  const hasMark = rules.strike('byte-order-mark', concerned)
  if (!hasLargeIds && !hasMark) return response
  const text = await response.text()
  // As text: as a number it would lose its last digit here.
  const longer = hasLargeIds
    ? text.replace(
        /^\[(?=\{)|"(?:portal|profile|user)":\[(?=\{)/,
        list => `${list}{"id":${LARGE_ID},"agentId":${LARGE_ID}},`,
      )
    : text
  const headers = new Headers(response.headers)
  headers.delete('Content-Length')
  return new Response((hasMark ? BYTE_ORDER_MARK : '') + longer, { status: response.status, headers })
}

/** The first whole number that a parser of JSON in JavaScript rounds. */
const LARGE_ID = '9007199254740993'

export const BYTE_ORDER_MARK = '\ufeff'

/** What happens to a request before it reaches the service, which then does not record it. */
export function applyPathFaults({ rules }: RequestFaults): MiddlewareHandler<RequestEnv> {
  /** Answers by address, and until when they are kept, on the clock of the system as in a real cache. */
  const kept = new Map<string, { readonly response: Response; readonly until: number }>()
  return async (c, next) => {
    const { method, path, raw } = c.req
    const concerned = (rule: Rule) => rule.concerns(method, path)
    if (rules.isEmpty || method === 'OPTIONS') return next()
    const wantsNew = raw.cache === 'no-store' || /no-(?:cache|store)/.test(raw.headers.get('Cache-Control') ?? '')
    const known = wantsNew || rules.all('cache-answers').length === 0 ? undefined : kept.get(raw.url)
    if (known && known.until > Date.now()) return known.response.clone()
    if (rules.strike('cut-request', concerned)) {
      c.env?.abandon?.()
      return c.body(null, GONE as 400)
    }
    await next()
    const caching = method === 'GET' ? rules.strike('cache-answers', concerned) : undefined
    // Files, such as the script of a connector, have their own life.
    if (!caching || c.res.status !== 200 || !isJson(c.res)) return
    const seconds = caching.fault.maxAgeSeconds ?? 600
    c.res.headers.set('Cache-Control', `max-age=${seconds}`)
    // Over a port the browser has a cache; a shared one keeps no answer to a request with a token.
    if (!wantsNew && !c.env?.cut) kept.set(raw.url, { response: c.res.clone(), until: Date.now() + seconds * 1_000 })
  }
}

function bodyTrouble(rules: FaultRules, concerned: (rule: Rule) => boolean): BodyTrouble | undefined {
  const truncated = rules.strike('truncate-body', concerned)
  const stalled = truncated ? undefined : rules.strike('stall-body', concerned)
  const speeds = rules.all('slow-link').flatMap(({ fault }) => (fault.only === 'frames' ? [] : fault.bytesPerSecond))
  if (!truncated && !stalled && speeds.length === 0) return undefined
  return {
    ...(truncated && { truncated }),
    ...(stalled && { stalled }),
    ...(speeds.length > 0 && { bytesPerSecond: Math.min(...speeds) }),
  }
}

function tooManyRequests({
  retryAfterSeconds = 1,
  retryAfter = `${retryAfterSeconds}`,
}: FaultOf<'rate-limit'>): Response {
  const body = {
    code: SERVICE_ERROR_CODE.TOO_MANY_MESSAGES,
    message: `Too many requests. Wait ${retryAfterSeconds} s.`,
  }
  return Response.json(body, { status: 429, headers: { 'Retry-After': retryAfter } })
}

function fixedResponse({ status, body, headers }: FaultOf<'answer'>): Response {
  const content = body === undefined ? { code: `${status}-000`, message: 'Answered so on request.' } : body
  if (WITHOUT_BODY.has(status)) return new Response(null, { status, headers: headers ?? {} })
  const isText = typeof content === 'string'
  return new Response(isText ? content : JSON.stringify(content), {
    status,
    headers: { 'Content-Type': isText ? 'text/plain; charset=utf-8' : 'application/json', ...headers },
  })
}

const isJson = (response: Response) => response.headers.get('Content-Type')?.includes('json') ?? false
