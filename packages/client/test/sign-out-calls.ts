import type { AiAgent } from '../src/ai-agent.ts'

/** Text that only the first user wrote. */
export const SECRET = 'SECRET of the first user'

/** Calls of the host around a logout. Each may fail; none may leave anything behind. */
export const CALLS: Record<string, (agent: AiAgent) => unknown> = {
  send: agent => agent.send(SECRET),
  ask: agent => agent.ask(SECRET),
  setContext: agent => agent.setContext({ note: SECRET }),
  sendContext: agent => agent.setContext({ note: SECRET }, { sendImmediately: true }),
  initialize: agent => agent.initialize({ context: { note: SECRET } }),
  connect: agent => agent.connect(),
  disconnect: agent => agent.disconnect(),
  restart: agent => agent.restartConnection(),
  details: agent => agent.getAgentDetails(),
  clear: agent => agent.clearQueue(),
}
