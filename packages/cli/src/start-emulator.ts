import type { EmulatorServer } from '@aiagent/emulator/node'

/** Starts an emulator for one command, on a free port. Against a deployment nobody needs it, so it is loaded only here. */
export async function startEmulator(knowledge?: string): Promise<EmulatorServer> {
  const { serveEmulator } = await import('@aiagent/emulator/node')
  return serveEmulator(knowledge === undefined ? {} : { knowledge })
}
