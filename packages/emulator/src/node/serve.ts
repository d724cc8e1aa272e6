import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { getRequestListener } from '@hono/node-server'
import { createEmulator, type Emulator, type EmulatorOptions } from '../emulator.ts'
import { createKnowledgeReply } from '../knowledge/knowledge-reply.ts'
import { loadKnowledge } from '../knowledge/node-loader.ts'
import { loadDevelopmentCertificate } from './development-certificate.ts'
import { IdentityProviderRouter } from './identity-provider/router.ts'
import { cutAfterAnswer, Listener } from './listener.ts'
import { SocketServer } from './socket-server.ts'

export interface ServeOptions extends EmulatorOptions {
  /** 0 takes a free one. @default 0 */
  port?: number
  /** Name or address to listen on. @default '127.0.0.1' */
  host?: string
  /** True serves https and wss with a development certificate of its own making; or give one, as PEM. @default false */
  tls?: boolean | { cert: string; key: string }
  /** Where the development certificate is kept; a folder of the user's cache by default. */
  certificateFolder?: string
  /** Folder of Markdown articles that the agent answers from, unless there is a `reply`. The shipped help centre by default. */
  knowledge?: string
}

export interface EmulatorServer {
  /** Address of the service: the endpoint for clients. */
  readonly url: string
  readonly emulator: Emulator
  /** File with the development certificate, for clients to trust; absent without one. */
  readonly certificateFile?: string
  /** Ends every connection and frees the port. Twice is once. */
  close(): Promise<void>
}

/**
 * Puts an emulator on a real port: HTTP and WebSocket together.
 *
 * @throws {Error} when the port is taken, or the folder of articles cannot be used
 * @throws {FaultError} when the schedule of faults has a mistake
 */
export async function serveEmulator(options: ServeOptions = {}): Promise<EmulatorServer> {
  const { port = 0, host = '127.0.0.1', tls = false, knowledge, certificateFolder, ...emulatorOptions } = options
  const reply = options.reply ?? createKnowledgeReply(await loadKnowledge(knowledge))
  const made = tls === true ? await loadDevelopmentCertificate(host, certificateFolder) : undefined
  const certificate = made ?? (typeof tls === 'object' ? tls : undefined)

  // The port is known only once the server listens, and the emulator wants to know it: it comes second.
  let emulator: Emulator | undefined
  let logins: IdentityProviderRouter | undefined
  const serveRest = getRequestListener(
    (request, { incoming, outgoing }) =>
      emulator?.handle(request, {
        remoteAddress: incoming.socket.remoteAddress,
        cut: () => cutAfterAnswer(outgoing),
        abandon: () => void outgoing.destroy(),
      }) ?? new Response('The service is starting.', { status: 503 }),
    { overrideGlobalObjects: false },
  )
  const answer: RequestListener = (incoming, outgoing) => {
    if (!logins?.handle(incoming, outgoing)) void serveRest(incoming, outgoing)
  }
  const server = certificate
    ? createTlsServer({ cert: certificate.cert, key: certificate.key }, answer)
    : createServer(answer)
  const sockets = new SocketServer(server, () => emulator)
  const listener = new Listener(server, host)
  const taken = await listener.open(port)
  const url = `${certificate ? 'https' : 'http'}://${hostInUrl(host)}:${taken}`
  const started = await createOrClose(
    () => createEmulator({ origin: url, offersLogin: true, ...emulatorOptions, reply }),
    listener,
  )
  emulator = started
  if (emulatorOptions.offersLogin !== false) logins = new IdentityProviderRouter(started)
  started.setPortListener({
    goDown: () => {
      sockets.breakWaiting()
      listener.goDown()
    },
    goUp: () => listener.goUp(),
  })

  let closing: Promise<void> | undefined
  const close = async () => {
    const freed = listener.close()
    started.close()
    await sockets.close()
    listener.breakAll()
    await freed
  }
  return {
    url,
    emulator: started,
    ...(made && { certificateFile: made.file }),
    close: () => (closing ??= close()),
  }
}

/** A mistake in the options of the emulator shows only now, and the port must not stay taken. */
async function createOrClose(create: () => Emulator, listener: Listener): Promise<Emulator> {
  try {
    return create()
  } catch (error) {
    await listener.close()
    throw error
  }
}

/** A host as it stands in an address. "All interfaces" is no address to call, so it becomes this machine's. */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
