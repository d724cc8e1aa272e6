import type { Emulator } from '@aiagent/emulator'
import { type EmulatorServer, loadFaultSchedule, serveEmulator } from '@aiagent/emulator/node'
import type { EmulateOptions, PlaygroundOptions } from '../command-line.ts'
import { EXIT } from '../exit-codes.ts'
import { type Io, untilInterrupted } from '../io.ts'
import { offerPlayground } from '../playground/offer-playground.ts'
import type { PlaygroundServer } from '../playground/serve-playground.ts'
import { writeEntry } from '../terminal-text.ts'

/**
 * Runs the emulator until the program has to exit.
 *
 * @returns the exit code
 * @throws {Error} when the port is taken, or the folder of articles or the schedule of faults cannot be used
 */
export async function emulate(options: EmulateOptions, io: Io): Promise<number> {
  if (options.playground?.endpoint !== undefined) return playAt(options.playground.endpoint, options.playground, io)
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
  let page: PlaygroundServer | undefined
  try {
    for (const line of describe(server, io.env)) writeEntry(io.stdout, line)
    if (options.playground) {
      const service = { endpoint: server.url, isEmulator: true, ...(chatHost !== undefined && { chatHost }) }
      // The next port keeps its address after a restart of the command.
      const at = port === 0 ? {} : { port: port + 1 }
      page = await offerPlayground({ ...service, ...at, ...options.playground, ...outputOf(io) })
    }
    writeEntry(io.stdout, STOP)
    await untilInterrupted(io)
    return EXIT.SUCCESS
  } finally {
    await page?.close()
    await server.close()
  }
}

/** Serves the playground for a deployment, without an emulator. */
async function playAt(endpoint: string, { agent, open }: PlaygroundOptions, io: Io): Promise<number> {
  if (!URL.canParse(endpoint)) throw new Error(`--endpoint must be an address with its scheme, not "${endpoint}".`)
  const page = await offerPlayground({ endpoint, isEmulator: false, agentId: agent, open, ...outputOf(io) })
  if (!page) return EXIT.FAILURE
  try {
    writeEntry(io.stdout, STOP)
    await untilInterrupted(io)
    return EXIT.SUCCESS
  } finally {
    await page.close()
  }
}

const STOP = 'Press Ctrl-C to stop.'

const outputOf = ({ env, stdout }: Io) => ({ env, show: (line: string) => writeEntry(stdout, line) })

/** What a developer needs to use the emulator, line by line. */
function describe({ url, deskUrl, certificateFile, emulator, hasLogins }: EmulatorServer, env: Io['env']): string[] {
  const agents = [...emulator.world.agents.values()].map(
    ({ details }) => `${details.agentId} (${details.name}${details.isAuthenticated ? ', for signed-in users' : ''})`,
  )
  const trust = certificateFile === undefined ? '' : `NODE_EXTRA_CA_CERTS=${quoted(certificateFile)} `
  return [
    `The emulator runs at ${url}`,
    `Agents: ${agents.join(', ')}`,
    `Desk: ${deskUrl} (answer here as the colleague to whom the agent hands over)`,
    ...(hasLogins ? describeLogins(emulator) : [NO_LOGINS]),
    ...(certificateFile === undefined ? [] : [`Certificate: ${certificateFile}`]),
    `Try it: ${trust}${chatCommand(env)} --endpoint ${url}`,
  ]
}

/** The package is resolved from where the command is installed: beside it, in the project or globally. */
const NO_LOGINS = 'Logins: none. Install their package where aiagent is installed: npm install oidc-provider@9'

function describeLogins(emulator: Emulator): string[] {
  const customers = emulator.pkceConfig({ redirectUri: '' })
  const staff = emulator.pkceConfig({ redirectUri: '', userType: 'agent' })
  const { users, tenant } = emulator.world
  const names = (userType: 'agent' | 'customer') =>
    [...users.values()]
      .filter(user => user.userType === userType && emulator.world.tenantIdOf(user.id) === tenant.id)
      .map(({ id }) => id)
      .join(', ')
  return [
    `Login for customers: ${customers.authorizationUrl}, client id ${customers.clientId}, users ${names('customer')}`,
    `Login for staff: ${staff.authorizationUrl}, client id ${staff.clientId}, users ${names('agent')}`,
    `Scope prefix: ${tenant.permissionPrefix}`,
  ]
}

/** The chat command to type: in a checkout of the repository it is an npm script. */
function chatCommand(env: Io['env']): string {
  return env.npm_lifecycle_event === 'emulate' ? 'npm start --' : 'aiagent chat'
}

const quoted = (path: string) => (/^[\w./:@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
