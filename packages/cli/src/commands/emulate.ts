import { type EmulatorServer, loadFaultSchedule, serveEmulator } from '@aiagent/emulator/node'
import type { EmulateOptions } from '../command-line.ts'
import { type Io, untilInterrupted } from '../io.ts'
import { writeEntry } from '../terminal-text.ts'

/**
 * Runs the emulator until the program has to exit.
 *
 * @returns the exit code
 * @throws {Error} when the port is taken, or the folder of articles or the schedule of faults cannot be used
 */
export async function emulate(options: EmulateOptions, io: Io): Promise<number> {
  const { port, host, tls, chatHost, faults, knowledge, seed, tokenLifeSeconds, replyDelayMs, capabilities, data } =
    options
  const server = await serveEmulator({
    port,
    host,
    tls,
    ...(chatHost !== undefined && { chatHost }),
    ...(knowledge !== undefined && { knowledge }),
    ...(seed !== undefined && { seed }),
    ...(data !== undefined && { data }),
    ...(faults !== undefined && { faults: await loadFaultSchedule(faults) }),
    settings: {
      ...(tokenLifeSeconds !== undefined && { tokenLifeSeconds }),
      ...(replyDelayMs !== undefined && { replyDelayMs }),
      ...(capabilities && { capabilities }),
    },
  })
  try {
    for (const line of describe(server, io.env)) writeEntry(io.stdout, line)
    await untilInterrupted(io)
    return 0
  } finally {
    await server.close()
  }
}

/** What a developer needs to use the emulator, line by line. */
function describe({ url, certificateFile, emulator }: EmulatorServer, env: Io['env']): string[] {
  const agents = [...emulator.world.agents.values()].map(
    ({ details }) => `${details.agentId} (${details.name}${details.isAuthenticated ? ', for signed-in users' : ''})`,
  )
  const trust = certificateFile === undefined ? '' : `NODE_EXTRA_CA_CERTS=${quoted(certificateFile)} `
  const customers = emulator.pkceConfig({ redirectUri: '' })
  const staff = emulator.pkceConfig({ redirectUri: '', userType: 'agent' })
  const { users, tenant } = emulator.world
  const names = (userType: 'agent' | 'customer') =>
    [...users.values()]
      .filter(user => user.userType === userType && emulator.world.tenantIdOf(user.id) === tenant.id)
      .map(({ id }) => id)
      .join(', ')
  return [
    `The emulator runs at ${url}`,
    `Agents: ${agents.join(', ')}`,
    `Login for customers: ${customers.authorizationUrl}, client id ${customers.clientId}, users ${names('customer')}`,
    `Login for staff: ${staff.authorizationUrl}, client id ${staff.clientId}, users ${names('agent')}`,
    `Scope prefix: ${tenant.permissionPrefix}`,
    ...(certificateFile === undefined ? [] : [`Certificate: ${certificateFile}`]),
    `Try it: ${trust}${chatCommand(env)} --endpoint ${url}`,
    'Press Ctrl-C to stop.',
  ]
}

/** The chat command to type: in a checkout of the repository it is an npm script. */
function chatCommand(env: Io['env']): string {
  return env.npm_lifecycle_event === 'emulate' ? 'npm start --' : 'aiagent chat'
}

const quoted = (path: string) => (/^[\w./:@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
