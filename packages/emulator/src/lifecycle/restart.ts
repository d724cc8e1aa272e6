import type { ChatService } from '../chat/chat-service.ts'
import type { Clock } from '../clock.ts'
import type { PendingWaits } from '../faults/pending-waits.ts'
import type { Availability } from './availability.ts'

export interface RestartPlan {
  /** Whether the sessions survive. */
  memory: boolean
  /** Time without a service, in milliseconds. */
  downMs: number
  /** Close code of the connections; 1006 breaks them. */
  code: number
}

/** Restarts the service and returns how many connections that ended. */
export type Restart = (plan: RestartPlan) => number

/** What puts the service on a real port: its listener goes down and comes back with the service. */
export interface PortListener {
  goDown(): void
  goUp(): void
}

export interface RestartParts {
  chat: ChatService
  clock: Clock
  availability: Availability
  waits: PendingWaits
  /** Asked at each restart: a port comes later than the service. */
  listener(): PortListener | undefined
}

export interface Restarter {
  restart: Restart
  /** Forgets about coming back. */
  stop(): void
}

/** Takes the service down and brings it back. A restart while it is down puts its return off. */
export function createRestarter({ chat, clock, availability, listener, waits }: RestartParts): Restarter {
  let timer: unknown
  const goUp = () => {
    timer = undefined
    if (availability.isClosed) return
    availability.goUp()
    listener()?.goUp()
  }
  return {
    restart: ({ code, downMs, memory }) => {
      if (availability.isClosed) return 0
      clock.clearTimeout(timer)
      availability.goDown()
      const ended = chat.drop(code, 'The service restarts')
      if (!memory) chat.forgetAll()
      waits.cancelAll()
      listener()?.goDown()
      if (downMs > 0) timer = clock.setTimeout(goUp, downMs)
      else goUp()
      return ended
    },
    stop: () => clock.clearTimeout(timer),
  }
}
