import type { AgentEventPayloadMap, AgentEventType, AiAgent } from '@aiagent/client'

/** The payload of the next event of that name that matches. Call it before doing what causes the event. */
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
