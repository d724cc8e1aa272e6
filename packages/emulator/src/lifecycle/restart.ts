import type { ChatService } from '../chat/chat-service.ts'
import type { Clock } from '../clock.ts'
import type { Desk } from '../desk/desk.ts'
import type { PendingWaits } from '../faults/pending-waits.ts'
import type { Availability } from './availability.ts'

export interface RestartPlan {
  /** Whether the sessions and the chats with colleagues survive. */
  memory: boolean
  /** Downtime, in milliseconds. */
  downMs: number
  /** Close code of the connections; 1006 breaks them. */
  code: number
}

/** Restarts the service and returns the number of connections that ended. */
export type Restart = (plan: RestartPlan) => number

/** The real port of the service: its listener goes down and returns with the service. */
export interface PortListener {
  /** Stops listening, and breaks the connections that are open. */
  goDown(): void
  /** Listens again, on the same port. */
  goUp(): void
}

export interface RestartParts {
  chat: ChatService
  desk: Desk
  clock: Clock
  availability: Availability
  waits: PendingWaits
  /** Read at each restart: a port is attached later than the service. */
  listener(): PortListener | undefined
}

export interface Restarter {
  restart: Restart
  /** Cancels the return. */
  stop(): void
}

/** Takes the service down and restores it. A restart during the downtime postpones the return. */
export function createRestarter({ chat, desk, clock, availability, listener, waits }: RestartParts): Restarter {
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
      if (!memory) {
        chat.forgetAll()
        desk.forgetAll()
      }
      waits.cancelAll()
      listener()?.goDown()
      if (downMs > 0) timer = clock.setTimeout(goUp, downMs)
      else goUp()
      return ended
    },
    stop: () => clock.clearTimeout(timer),
  }
}
