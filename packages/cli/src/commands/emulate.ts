import { type EmulatorServer, loadFaultSchedule, serveEmulator } from '@aiagent/emulator/node'
import type { EmulateOptions } from '../command-line.ts'
import { type Io, untilInterrupted } from '../io.ts'

/**
 * Runs the emulator until the program is asked to leave.
 *
 * @returns the exit code
 * @throws {Error} when the port is taken, or the folder of articles or the schedule of faults cannot be used
 */
export async function emulate(options: EmulateOptions, io: Io): Promise<number> {
  const { port, host, tls, faults, knowledge, seed, tokenLifeSeconds, replyDelayMs } = options
  const server = await serveEmulator({
    port,
    host,
    tls,
    ...(knowledge !== undefined && { knowledge }),
    ...(seed !== undefined && { seed }),
    ...(faults !== undefined && { faults: await loadFaultSchedule(faults) }),
    settings: {
      ...(tokenLifeSeconds !== undefined && { tokenLifeSeconds }),
      ...(replyDelayMs !== undefined && { replyDelayMs }),
    },
  })
  try {
    io.stdout.write(describe(server, io.env))
    await untilInterrupted(io)
    return 0
  } finally {
    await server.close()
  }
}

function describe({ url, certificateFile, emulator }: EmulatorServer, env: Io['env']): string {
  const agents = [...emulator.world.agents.values()].map(
    ({ details }) => `${details.agentId} (${details.name}${details.isAuthenticated ? ', for signed-in people' : ''})`,
  )
  const trust = certificateFile === undefined ? '' : `NODE_EXTRA_CA_CERTS=${quoted(certificateFile)} `
  return [
    `The emulator runs at ${url}`,
    `Agents: ${agents.join(', ')}`,
    ...(certificateFile === undefined ? [] : [`Certificate: ${certificateFile}`]),
    `Try it: ${trust}${chatCommand(env)} --endpoint ${url}`,
    'Ctrl-C stops it.',
    '',
  ].join('\n')
}

/** The chat command as the user can type it here: in a checkout of the repository npm knows it, not the shell. */
function chatCommand(env: Io['env']): string {
  return env.npm_lifecycle_event === 'emulate' ? 'npm start --' : 'aiagent chat'
}

const quoted = (path: string) => (/^[\w./:@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
