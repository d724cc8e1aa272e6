import type { AgentEvent, AgentEventType, AiAgent } from '@aiagent/client'

/** Options of {@link nextEvent}. */
export interface NextEventOptions<Type extends AgentEventType> {
  /** Takes only the events for which it returns true. @default all */
  matches?: (event: AgentEvent<Type>) => boolean
  /** Time limit in milliseconds. @default 5000 */
  timeoutMs?: number
}

/**
 * Resolves with the next event of an agent. Call it before the action that causes the event.
 *
 * @throws {Error} when none arrives within the time limit
 */
export function nextEvent<Type extends AgentEventType>(
  agent: Pick<AiAgent, 'subscribe'>,
  type: Type,
  { matches = () => true, timeoutMs = 5000 }: NextEventOptions<Type> = {},
): Promise<AgentEvent<Type>> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stop()
      reject(new Error(`No '${type}' within ${timeoutMs} ms.`))
    }, timeoutMs)
    const stop = agent.subscribe(type, event => {
      if (!matches(event)) return
      clearTimeout(timer)
      stop()
      resolve(event)
    })
  })
}
