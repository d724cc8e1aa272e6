import type { StandingFault } from './fault.ts'

/** A condition between a client and a real service, as faults of the emulator. */
export interface Weather {
  /** In a sentence, for people. */
  readonly about: string
  /** Faults that a client gets through: what it does has the same outcome as without them. */
  readonly passing: readonly StandingFault[]
  /** Faults that keep a conversation from beginning, until they are lifted. @default none */
  readonly staying?: readonly StandingFault[]
}

const HTML = { body: '<!doctype html><title>Sign in to the network</title>', headers: { 'Content-Type': 'text/html' } }
/** All that a client of the service asks for, and nothing of the controls. */
const ANY = 'GET *'

const weathers = {
  cache: {
    about: 'A cache between client and service keeps the answers to GET for ten minutes.',
    passing: [{ kind: 'cache-answers' }],
  },
  'byte order mark': {
    about: 'Bodies and frames of the service begin with a byte order mark.',
    passing: [{ kind: 'byte-order-mark' }],
  },
  'large ids': {
    about: 'Lists of the service have an entry whose id is a number above 2^53.',
    passing: [{ kind: 'large-ids' }],
  },
  'repeated answers': {
    about: 'The service sends its last answers again after each opening of the chat.',
    passing: [{ kind: 'repeat-answers' }],
  },
  'ended connections': {
    about: 'The connection of a request has ended before, or ends in the middle of the answer.',
    passing: [
      { kind: 'cut-request', route: ANY, times: 1 },
      { kind: 'truncate-body', route: ANY, times: 1, after: 1 },
    ],
    staying: [{ kind: 'cut-request' }],
  },
  'busy service': {
    about:
      'The service limits the rate of calls: it names the wait in seconds, in a fraction, as a date, or not at all.',
    passing: [
      { kind: 'rate-limit', only: 'requests', retryAfter: '1', times: 1 },
      { kind: 'rate-limit', only: 'requests', retryAfter: '0.5', times: 1, after: 1 },
      { kind: 'rate-limit', only: 'requests', retryAfter: 'Thu, 01 Jan 2015 00:00:00 GMT', times: 1, after: 2 },
      { kind: 'rate-limit', only: 'requests', retryAfter: 'soon', times: 1, after: 3 },
    ],
    staying: [{ kind: 'rate-limit', only: 'requests', retryAfter: '2' }],
  },
  'service in repair': {
    about: 'The service answers with 503, and names when to ask again.',
    passing: [
      { kind: 'answer', route: ANY, status: 503, headers: { 'Retry-After': '2' }, times: 1 },
      { kind: 'refuse-upgrade', status: 503, times: 1 },
    ],
    staying: [
      { kind: 'answer', status: 503, headers: { 'Retry-After': '2' } },
      { kind: 'refuse-upgrade', status: 503 },
    ],
  },
  'captive portal': {
    about: 'A network answers every request with its own page, with status 200, until the user has signed in to it.',
    passing: [
      { kind: 'answer', route: ANY, status: 200, ...HTML, times: 1 },
      { kind: 'refuse-upgrade', status: 200, times: 1 },
    ],
    staying: [
      { kind: 'answer', status: 200, ...HTML },
      { kind: 'refuse-upgrade', status: 200 },
    ],
  },
  'proxy sign-in': {
    about: 'A proxy of the network asks for a sign-in.',
    passing: [
      { kind: 'answer', route: ANY, status: 407, ...HTML, times: 1 },
      { kind: 'refuse-upgrade', status: 407, times: 1 },
    ],
    staying: [
      { kind: 'answer', status: 407, ...HTML },
      { kind: 'refuse-upgrade', status: 407 },
    ],
  },
  'idle proxy': {
    about: 'A proxy breaks chat connections after five seconds without a frame.',
    passing: [{ kind: 'cut-idle', afterMs: 5_000 }],
  },
} as const satisfies Record<string, Weather>

/** The name of a {@link Weather}. */
export type WeatherName = keyof typeof weathers

/** The weathers by name, each to be added with `faults.add()`. */
export const WEATHERS: Readonly<Record<WeatherName, Weather>> = weathers
