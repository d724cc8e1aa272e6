import type { AuthenticationService } from '../auth/authentication-service.ts'
import type { MessageStreams } from '../conversation/message-streams.ts'
import { SDKError } from '../errors.ts'
import type { AgentEvents } from '../events.ts'
import type { Logger } from '../logger.ts'
import type { Resumption } from '../resume/session-resume.ts'
import type { EventEmitter } from '../util/event-emitter.ts'
import type { LazyPart } from '../util/lazy-part.ts'
import type { Startup } from './lifecycle.ts'
import type { Conversation } from './restart-conversation.ts'

/** Whatever holds timers, listeners, sockets, or promises that somebody waits for. */
export interface Releasable extends Conversation {
  readonly startup: Startup
  readonly resumption: LazyPart<Resumption> | undefined
  readonly streams: MessageStreams
  readonly authentication: AuthenticationService
  readonly events: EventEmitter<AgentEvents>
  readonly logger: Logger
}

/** Ends an agent for good, in silence: nobody listens to it any more. */
export async function release(agent: Releasable): Promise<void> {
  const { startup, resumption, outbox, streams, chat, inbox, authentication, events, logger } = agent
  startup.destroy()
  // First of all, for an agent that is made right after this call.
  const released = resumption?.(part => part.release())
  outbox.destroy(new SDKError('ask() was given up because of destroy().', 'ABORTED'))
  streams.end()
  await chat.disconnect({ skipGracefulDisconnect: true })
  inbox.clear()
  // A strategy of the host's may fail here: the rest is released all the same.
  await authentication.cleanup().catch(error => logger.warn('The authentication could not be cleaned up.', { error }))
  await released
  events.removeAllListeners()
}
