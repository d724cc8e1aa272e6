/** One run of the storm. */
export interface Storm {
  clients: number
  /** Time without a service, in milliseconds. All clients lose it at 0. */
  outageMs: number
  /** How many connections the service takes within one second once it is back; further attempts are refused. */
  acceptedPerSecond: number
  /** Wait before attempt number `attempt` (from 0), in milliseconds. */
  delayFor(attempt: number): number
}

/** What happened, on the simulated clock. */
export interface StormResult {
  /** Attempts in each tenth of a second, from the loss of the service on. */
  readonly attempts: readonly number[]
  /** Connections in each tenth of a second. */
  readonly accepted: readonly number[]
}

/** Length of a step of the simulated clock, in milliseconds. Shorter than any wait, so that no client acts twice in one. */
export const STEP_MS = 100
/** A storm that is not over by then will not end. */
const LONGEST_MS = 60 * 60_000

/** Simulates every client until each is connected again. Nothing waits: the clock goes from step to step. */
export function simulateStorm({ acceptedPerSecond, clients, delayFor, outageMs }: Storm): StormResult {
  const attemptNumber = new Uint8Array(clients)
  const nextAt = new Float64Array(clients)
  /** Clients by the step of their next attempt. */
  const steps: (number[] | undefined)[] = []
  const schedule = (client: number, at: number) => {
    nextAt[client] = at
    const step = Math.floor(at / STEP_MS)
    const waiting = steps[step]
    if (waiting) waiting.push(client)
    else steps[step] = [client]
  }
  for (let client = 0; client < clients; client++) schedule(client, delayFor(0))

  const attempts: number[] = []
  const accepted: number[] = []
  let connected = 0
  let acceptedInSecond = 0
  for (let step = 0; connected < clients; step++) {
    const now = step * STEP_MS
    if (now > LONGEST_MS) throw new Error('The storm does not end. Let the service accept more connections.')
    if (now % 1000 === 0) acceptedInSecond = 0
    const acting = steps[step] ?? []
    steps[step] = undefined
    const room = now < outageMs ? 0 : Math.min(acting.length, acceptedPerSecond - acceptedInSecond)
    acceptedInSecond += room
    connected += room
    attempts.push(acting.length)
    accepted.push(room)
    for (const client of acting.slice(room)) {
      const attempt = Math.min((attemptNumber[client] ?? 0) + 1, 255)
      attemptNumber[client] = attempt
      schedule(client, (nextAt[client] ?? now) + delayFor(attempt))
    }
  }
  return { attempts, accepted }
}

/** Numbers from 0 up to, but not including, 1: the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
