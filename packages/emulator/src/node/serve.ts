import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { getRequestListener } from '@hono/node-server'
import type { Refusal } from '../chat/socket-end.ts'
import { createEmulator, type Emulator, type EmulatorOptions } from '../emulator.ts'
import { createKnowledgeReply } from '../knowledge/knowledge-reply.ts'
import { answerDeskPage, DESK_PATH } from './desk-page.ts'
import { loadDevelopmentCertificate } from './development-certificate.ts'
import { createFolderStore } from './folder-store.ts'
import { createHostCheck, type HostCheck } from './host-check.ts'
import { IdentityProviderRouter } from './identity-provider/router.ts'
import { cutAfterAnswer, Listener } from './listener.ts'
import { loadKnowledge } from './load-knowledge.ts'
import { isInstalled, LOGINS, requireInstalled } from './optional-package.ts'
import { SocketServer } from './socket-server.ts'

/** Options of {@link serveEmulator}: those of the emulator, and those of its port. */
export interface ServeOptions extends EmulatorOptions {
  /** 0 selects a free port. @default 0 */
  port?: number
  /** Name or address to listen on. @default '127.0.0.1' */
  host?: string
  /** True serves https and wss with a self-made development certificate; or pass one, as PEM. @default false */
  tls?: boolean | { cert: string; key: string }
  /** Folder of the development certificate; a folder of the user's cache by default. */
  certificateFolder?: string
  /**
   * Name under which clients find the chat when they know the deployment's `aiAgentDomain` only. It must begin with
   * `chat.`, resolve to this machine at the client, and is covered by the development certificate. Browsers resolve the
   * default by themselves.
   *
   * @default 'chat.localhost', unless `world` has tenants
   */
  chatHost?: string
  /**
   * Folder that keeps sessions, tokens and logins, so that the next emulator with it goes on where this one stopped, also
   * after it was killed. One process at a time may use it. Ignored where a `store` is given.
   *
   * @default nothing is kept
   */
  data?: string
  /**
   * Folder of Markdown articles for the agent's answers, unless there is a `reply`. The included help center by
   * default.
   */
  knowledge?: string
}

/** An emulator on a port of this machine. */
export interface EmulatorServer {
  /** Address of the service: the endpoint for clients. */
  readonly url: string
  /** Address of the page on which a colleague answers, on this machine. */
  readonly deskUrl: string
  /** The emulator behind the port, for its controls, faults and records. */
  readonly emulator: Emulator
  /** Whether users can sign in: not with `offersLogin: false`, nor without the package `oidc-provider`. */
  readonly hasLogins: boolean
  /** File with the development certificate, for clients to trust; absent without one. */
  readonly certificateFile?: string
  /** Ends every connection and releases the port. A second call has no effect. */
  close(): Promise<void>
  /** Calls {@link EmulatorServer.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

const replyFrom = async (folder?: string) => createKnowledgeReply(await loadKnowledge(folder))

/** From the included help center, whose index takes longer to make than an emulator: one for all of the process. */
let includedReply: ReturnType<typeof replyFrom> | undefined

/**
 * Serves an emulator on a real port: HTTP and WebSocket together.
 *
 * @throws {Error} when the port is taken, or the folder of articles cannot be used
 * @throws {FaultError} when the schedule of faults is invalid
 * @throws {MissingPackageError} when `offersLogin` is true, or a development certificate has to be made, and the package for it
 *   is not installed. Without `offersLogin`, the first request to a login reports it.
 */
export async function serveEmulator(options: ServeOptions = {}): Promise<EmulatorServer> {
  const { port = 0, host = '127.0.0.1', tls = false, knowledge, certificateFolder, ...others } = options
  const {
    chatHost,
    data,
    store = data === undefined ? undefined : createFolderStore(data),
    ...emulatorOptions
  } = others
  if (options.offersLogin) requireInstalled(LOGINS)
  const chatName = readChatName(chatHost ?? DEFAULT_CHAT_HOST)
  const reply =
    options.reply ?? (await (knowledge === undefined ? (includedReply ??= replyFrom()) : replyFrom(knowledge)))
  const made =
    tls === true ? await loadDevelopmentCertificate([host, `chat.${chatName}`], certificateFolder) : undefined
  const certificate = made ?? (typeof tls === 'object' ? tls : undefined)

  // The port is known only once the server listens, and the emulator needs it: so the emulator is created afterwards.
  let emulator: Emulator | undefined
  let logins: IdentityProviderRouter | undefined
  const serveRest = getRequestListener(
    async (request, { incoming, outgoing }) => {
      if (!emulator) return new Response('The service is starting.', { status: 503 })
      const { remoteAddress } = incoming.socket
      const page = await answerDeskPage(request, remoteAddress)
      const cut = () => cutAfterAnswer(outgoing)
      const abandon = () => void outgoing.destroy()
      return page ?? emulator.handle(request, { remoteAddress, cut, abandon })
    },
    { overrideGlobalObjects: false },
  )
  let check: HostCheck = () => undefined
  const answer: RequestListener = (incoming, outgoing) => {
    const refusal = check(incoming)
    if (refusal) return refuse(outgoing, refusal)
    if (!logins?.handle(incoming, outgoing)) void serveRest(incoming, outgoing)
  }
  const server = certificate
    ? createTlsServer({ cert: certificate.cert, key: certificate.key }, answer)
    : createServer(answer)
  const sockets = new SocketServer(
    server,
    () => emulator,
    request => check(request),
  )
  const listener = new Listener(server, host)
  const taken = await listener.open(port)
  const url = `${certificate ? 'https' : 'http'}://${hostInUrl(host)}:${taken}`
  const started = await createOrClose(() => {
    const origin = emulatorOptions.origin ?? url
    const hasOwnTenants = chatHost === undefined && emulatorOptions.world?.tenants !== undefined
    const chatDomain = [chatName, new URL(origin).port].filter(Boolean).join(':')
    return createEmulator(
      {
        offersLogin: true,
        ...(!hasOwnTenants && { chatDomain }),
        ...emulatorOptions,
        ...(store && { store }),
        origin,
        reply,
      },
      true,
    )
  }, listener)
  if (listener.isLoopback) check = createHostCheck([new URL(started.origin).hostname, host, `chat.${chatName}`])
  else warnOfExposure(host, taken)
  emulator = started
  if (emulatorOptions.offersLogin !== false) logins = new IdentityProviderRouter(started, store)
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
  const closeOnce = () => (closing ??= close())
  return {
    url,
    deskUrl: url + DESK_PATH,
    emulator: started,
    hasLogins: emulatorOptions.offersLogin !== false && isInstalled(LOGINS),
    ...(made && { certificateFile: made.file }),
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  }
}

const DEFAULT_CHAT_HOST = 'chat.localhost'

/** The chat host without its label. */
function readChatName(chatHost: string): string {
  const [, name] = /^chat\.([a-z\d.-]+)$/i.exec(chatHost) ?? []
  if (name === undefined)
    throw new TypeError(
      `The chat host must begin with "chat." and have no port, as in "${DEFAULT_CHAT_HOST}", not "${chatHost}".`,
    )
  return name.toLowerCase()
}

/** Logins of the emulator need no password, and its keys follow from the seed. */
function warnOfExposure(host: string, port: number): void {
  process.emitWarning(
    `The emulator listens on ${host}, port ${port}, beyond this machine. Everybody who reaches it can sign in as any user. Use it in a trusted network only.`,
    { code: 'AIAGENT_EMULATOR_EXPOSED' },
  )
}

function refuse(response: ServerResponse, { status, code, message }: Refusal): void {
  response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' })
  response.end(JSON.stringify({ code, message }))
}

/** Invalid options of the emulator are detected only now, and the port must be released. */
async function createOrClose(create: () => Emulator, listener: Listener): Promise<Emulator> {
  try {
    return create()
  } catch (error) {
    await listener.close()
    throw error
  }
}

/** A host for a URL. "All interfaces" cannot be called, so it becomes this machine's. */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
