import type { Emulator } from '@aiagent/emulator'

/** Whether a chat of one of the sessions is open. */
export function isConnected({ world, control }: Pick<Emulator, 'world' | 'control'>): boolean {
  return [...world.sessions.keys()].some(id => {
    try {
      control.pushFrame(id, { persona: 'system', role: 'heartbeat' })
      return true
    } catch {
      return false
    }
  })
}
