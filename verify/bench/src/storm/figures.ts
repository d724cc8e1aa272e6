import { ReconnectPolicy } from '../../../../packages/client/src/chat/backoff.ts'
import { STEP_MS, type Storm, type StormResult, seededRandom, simulateStorm } from './simulate.ts'

/** The defaults of the client. */
const POLICY = { maxReconnectAttempts: Number.POSITIVE_INFINITY, baseReconnectDelay: 1000, maxReconnectDelay: 30_000 }

export type StormConditions = Omit<Storm, 'delayFor'> & { seed: number }

/** The figures of one way to wait. Rates are attempts per second. */
export interface StormFigures {
  /** Highest rate in any tenth of a second. */
  peakRate: number
  /** Most attempts in any whole second. */
  peakPerSecond: number
  /** Most attempts in any whole second from `SETTLED_S` on, where all clients wait as long as they ever do. */
  settledPeakPerSecond: number
  attempts: number
  /** Seconds from the return of the service until half of the clients, 99 % and all are connected. */
  halfBackS: number
  mostBackS: number
  allBackS: number
}

export interface StormComparison {
  withJitter: { figures: StormFigures; perSecond: number[] }
  withoutJitter: { figures: StormFigures; perSecond: number[] }
}

/** From this second on, the wait of the clients has reached its maximum. */
export const SETTLED_S = 60

/** The client's policy, and the same doubling without its jitter, under the same conditions. */
export function compareStorms({ seed, ...conditions }: StormConditions): StormComparison {
  const policy = new ReconnectPolicy(POLICY, { random: seededRandom(seed) })
  const { baseReconnectDelay, maxReconnectDelay } = POLICY
  const doubling = (attempt: number) => Math.min(baseReconnectDelay * 2 ** attempt, maxReconnectDelay)
  const figuresOf = (delay: Storm['delayFor']) => {
    const result = simulateStorm({ ...conditions, delayFor: delay })
    return { figures: figures(result, conditions), perSecond: perSecond(result.attempts) }
  }
  return { withJitter: figuresOf(attempt => policy.delayFor(attempt)), withoutJitter: figuresOf(doubling) }
}

function figures({ accepted, attempts }: StormResult, { clients, outageMs }: Omit<Storm, 'delayFor'>): StormFigures {
  const seconds = perSecond(attempts)
  const backAfter = (share: number) => {
    let connected = 0
    const step = accepted.findIndex(count => {
      connected += count
      return connected >= share * clients
    })
    return ((step + 1) * STEP_MS - outageMs) / 1000
  }
  return {
    peakRate: largest(attempts) * (1000 / STEP_MS),
    peakPerSecond: largest(seconds),
    settledPeakPerSecond: largest(seconds.slice(SETTLED_S)),
    attempts: attempts.reduce((sum, count) => sum + count, 0),
    halfBackS: backAfter(0.5),
    mostBackS: backAfter(0.99),
    allBackS: backAfter(1),
  }
}

function perSecond(counts: readonly number[]): number[] {
  const width = 1000 / STEP_MS
  return Array.from({ length: Math.ceil(counts.length / width) }, (_, second) =>
    counts.slice(second * width, (second + 1) * width).reduce((sum, count) => sum + count, 0),
  )
}

const largest = (values: readonly number[]) => values.reduce((most, value) => Math.max(most, value), 0)
