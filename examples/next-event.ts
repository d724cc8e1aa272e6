import type { AgentEventPayloadMap, AgentEventType, AiAgent } from '@aiagent/client'

/** Resolves with the payload of the next matching event. Call it before the action that causes the event. */
export function nextEvent<Type extends AgentEventType>(
  agent: AiAgent,
  type: Type,
  matches: (payload: AgentEventPayloadMap[Type]) => boolean = () => true,
): Promise<AgentEventPayloadMap[Type]> {
  return new Promise(resolve => {
    const stop = agent.subscribe(type, ({ payload }) => {
      if (!matches(payload)) return
      stop()
      resolve(payload)
    })
  })
}
