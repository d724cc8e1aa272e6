import { CHAT_QUERY } from '@aiagent/protocol'
import type { Clock } from '../clock.ts'
import { answerDelay } from '../faults/answer-delay.ts'
import { requestDelay } from '../faults/apply-faults.ts'
import type { FaultOf } from '../faults/fault.ts'
import type { Rule } from '../faults/fault-rules.ts'
import type { Faults } from '../faults/faults.ts'
import type { Availability } from '../lifecycle/availability.ts'
import type { EmulatorSettings } from '../settings.ts'
import type { RecordedRequest } from '../world/recording.ts'
import type { World } from '../world/world.ts'
import type { ChatService } from './chat-service.ts'
import type { Refusal, Upgrade } from './socket-end.ts'

export interface UpgradeHandlerParts {
  chat: ChatService
  clock: Clock
  faults: Faults
  availability: Availability
  settings: EmulatorSettings
  world: World
}

/** Validates the address of a chat connection; delayed only by a fault or a setting. */
export type UpgradeHandler = (url: URL, headers?: Readonly<Record<string, string>>) => Upgrade | Promise<Upgrade>

/** No response at all. */
export const NO_RESPONSE: Refusal = { accepted: false, status: 0, code: '', message: 'Nobody answers here.' }
const SHUT_DOWN: Refusal = { accepted: false, status: 503, code: '503-001', message: 'The service has shut down.' }

/**
 * Handles upgrade requests of chat connections: records each, applies the active faults, and connects it to its
 * conversation.
 */
export function createUpgradeHandler({
  chat,
  clock,
  faults,
  availability,
  settings,
  world,
}: UpgradeHandlerParts): UpgradeHandler {
  const enter = (url: URL, entry: RecordedRequest): Upgrade => {
    const admission = availability.isUp ? chat.admit(url) : NO_RESPONSE
    entry.status = admission.accepted ? 101 : admission.status
    if (!admission.accepted) return admission
    const sessionId = url.searchParams.get(CHAT_QUERY.SESSION_ID) ?? undefined
    return { accepted: true, open: end => faults.links.open(sessionId, end, admission.open) }
  }

  const enterLate = async (url: URL, entry: RecordedRequest, ownDelayMs: number): Promise<Upgrade> => {
    const { rules, waits } = faults
    const delayMs = ownDelayMs + requestDelay(faults, rule => rule.concerns('GET', url.pathname))
    if (delayMs > 0 && (await waits.pause(delayMs)) === 'gone') return NO_RESPONSE
    const sessionId = url.searchParams.get(CHAT_QUERY.SESSION_ID)
    const meant = ({ fault }: Rule<FaultOf<'hang-upgrade' | 'refuse-upgrade'>>) =>
      fault.sessionId === undefined || fault.sessionId === sessionId
    const hanging = rules.strike('hang-upgrade', meant)
    if (hanging && (await waits.untilCalled(hanging.onLift)) === 'gone') return NO_RESPONSE
    const refused = rules.strike('refuse-upgrade', meant)
    if (!refused) return enter(url, entry)
    const { status } = refused.fault
    entry.status = status
    entry.fault = refused.id
    return { accepted: false, status, code: `${status}-000`, message: 'Refused so on request.' }
  }

  return (url, headers = {}) => {
    if (availability.isClosed) return SHUT_DOWN
    if (!availability.isUp) return NO_RESPONSE
    const query = Object.fromEntries(url.searchParams)
    const entry: RecordedRequest = { at: clock.now(), method: 'GET', path: url.pathname, query, headers, status: 0 }
    world.requests.add(entry)
    const delayMs = answerDelay({ settings, random: faults.random })
    return faults.rules.isEmpty && delayMs === 0 ? enter(url, entry) : enterLate(url, entry, delayMs)
  }
}
