import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import { LOGIN_ENDPOINTS, loginIssuerPath, loginPath } from '../../oauth/login-addresses.ts'
import { configureProvider, type LoginParts, type ProviderTools, SIGNING_ALGORITHM } from './configuration.ts'
import { answerInteraction } from './interaction.ts'

/** A login that works: an OpenID provider with a page to sign in on. */
export interface IdentityProvider {
  /** Answers a request, given the part of its path below the login's own. */
  handle(request: IncomingMessage, response: ServerResponse, below: string): Promise<void>
}

/** Makes the provider of one login. Its library takes a moment to load, so this waits until somebody wants to sign in. */
export async function createIdentityProvider(parts: LoginParts): Promise<IdentityProvider> {
  const { origin, state, tenant, userType } = parts
  const tools = await loadLibrary()
  const signingKey = { ...state.signingKey(), use: 'sig', alg: SIGNING_ALGORITHM }
  const issuer = origin + loginIssuerPath(tenant, userType)
  const provider = new tools.Provider(issuer, configureProvider(parts, tools, signingKey))
  relaxRules(provider, origin)
  addHeaders(provider, parts)
  const askedPaths = new WeakMap<IncomingMessage, string>()
  record(provider, parts, askedPaths)

  const answer = provider.callback()
  const base = loginPath(tenant, userType)
  return {
    handle: async (request, response, below) => {
      if (below.startsWith('/interaction/')) return answerInteraction(provider, parts, request, response)
      const [path = '', query = ''] = split(request.url ?? '')
      askedPaths.set(request, path)
      // The library builds its addresses from the part of the path before the one that it gets.
      Object.assign(request, { originalUrl: base + below + query, url: below + query })
      await answer(request, response)
    },
  }
}

/**
 * Loads the library without its word on Node 20, which it says while it loads: what is used of it works there, as the
 * tests show, and who starts the emulator could not do anything about it.
 */
async function loadLibrary(): Promise<ProviderTools> {
  const { warn } = console
  console.warn = (...words: unknown[]) => {
    if (!String(words[0]).includes('Unsupported runtime')) warn.apply(console, words)
  }
  try {
    return await import('oidc-provider')
  } finally {
    console.warn = warn
  }
}

/**
 * A desk has no register of applications: pages of this machine, and of the service itself, may be returned to. And a
 * client may name `offline_access` when it renews, as others accept it although they took it as said.
 */
function relaxRules(provider: Provider, origin: string): void {
  const allowed = (address: string) => {
    const url = URL.canParse(address) ? new URL(address) : undefined
    return url !== undefined && (url.origin === origin || isLoopback(url))
  }
  Object.assign(provider.Client.prototype, { redirectUriAllowed: allowed, postLogoutRedirectUriAllowed: allowed })
  Object.defineProperty(provider.RefreshToken.prototype, 'scopes', {
    get(this: { scope?: string }) {
      return new Set([...(this.scope?.split(' ') ?? []), 'offline_access'])
    },
  })
}

function isLoopback({ protocol, hostname }: URL): boolean {
  if (protocol !== 'http:' && protocol !== 'https:') return false
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

function addHeaders(provider: Provider, { settings }: LoginParts): void {
  provider.use(async (ctx, next) => {
    await next()
    if (settings.loginOpenerPolicy) ctx.set('Cross-Origin-Opener-Policy', settings.loginOpenerPolicy)
    if (ctx.path === LOGIN_ENDPOINTS.openIdConfiguration && !settings.endSessionEndpoint) {
      const { end_session_endpoint: _hidden, ...rest } = ctx.body as Record<string, unknown>
      ctx.body = rest
    }
  })
}

/** Notes every request as the REST calls are noted. */
function record(provider: Provider, { world }: LoginParts, askedPaths: WeakMap<IncomingMessage, string>): void {
  provider.use(async (ctx, next) => {
    const at = Date.now()
    await next()
    const form = ctx.method === 'POST' ? (ctx.oidc?.body as Record<string, string> | undefined) : undefined
    world.requests.add({
      at,
      method: ctx.method,
      path: askedPaths.get(ctx.req) ?? ctx.path,
      query: Object.fromEntries(new URLSearchParams(ctx.querystring)),
      headers: flat(ctx.headers),
      ...(form && { body: String(new URLSearchParams(form)) }),
      status: ctx.status,
    })
  })
}

/** The path of an address, and its query with the question mark. */
function split(address: string): [path: string, query: string] {
  const mark = address.indexOf('?')
  return mark < 0 ? [address, ''] : [address.slice(0, mark), address.slice(mark)]
}

function flat(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
