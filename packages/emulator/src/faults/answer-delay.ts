import type { MiddlewareHandler } from 'hono'
import type { Random } from '../random.ts'
import type { EmulatorSettings } from '../settings.ts'
import type { PendingWaits } from './pending-waits.ts'

export interface DelayParts {
  settings: EmulatorSettings
  /** A separate generator, so that a delay does not change the ids of the service. */
  random: Random
  waits: PendingWaits
}

/** The client has aborted, or the service has stopped; this status appears only in the recording. */
const CLIENT_GONE = 499

/** Response time of the service, in milliseconds: at least the setting, plus a random jitter. */
export function answerDelay({ settings, random }: Pick<DelayParts, 'settings' | 'random'>): number {
  const { answerDelayMs, answerJitterMs } = settings
  return answerDelayMs + (answerJitterMs > 0 ? random.next() * answerJitterMs : 0)
}

/** Delays every response. */
export function delayAnswers(parts: DelayParts): MiddlewareHandler {
  return async (c, next) => {
    const delayMs = answerDelay(parts)
    if (delayMs > 0 && (await parts.waits.pause(delayMs, c.req.raw.signal)) === 'gone')
      return c.body(null, CLIENT_GONE as 400)
    return next()
  }
}
