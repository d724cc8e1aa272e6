import type { EmulatorServer } from '@aiagent/emulator/node'

/** Starts an emulator on a free port for one command. The module is loaded only if it is needed. */
export async function startEmulator(knowledge?: string): Promise<EmulatorServer> {
  const { serveEmulator } = await import('@aiagent/emulator/node')
  return serveEmulator(knowledge === undefined ? {} : { knowledge })
}
