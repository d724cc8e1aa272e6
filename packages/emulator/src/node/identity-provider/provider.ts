import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import { LOGIN_ENDPOINTS, loginIssuerPath, loginPath } from '../../oauth/login-addresses.ts'
import { configureProvider, type LoginParts, type ProviderTools, SIGNING_ALGORITHM } from './configuration.ts'
import { answerInteraction } from './interaction.ts'

/** A working login: an OpenID provider with a sign-in page. */
export interface IdentityProvider {
  /** Answers a request, given the part of its path after the login's own. */
  handle(request: IncomingMessage, response: ServerResponse, below: string): Promise<void>
}

/** Creates the provider of one login. Its library loads slowly, so this waits for the first sign-in. */
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
      // The library builds its addresses from the part of the path before the one it receives.
      Object.assign(request, { originalUrl: base + below + query, url: below + query })
      await answer(request, response)
    },
  }
}

/**
 * Loads the library without its warning about Node 20, which it prints on loading. The used parts work there, as the
 * tests show, and a user of the emulator could not change it.
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
 * There is no register of applications: pages of this machine, and of the service itself, are allowed as return
 * addresses. A client may name `offline_access` in a renewal, which other providers accept too.
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

/** Records every request like the REST calls. */
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

/** The path of an address, with its query. */
function split(address: string): [path: string, query: string] {
  const mark = address.indexOf('?')
  return mark < 0 ? [address, ''] : [address.slice(0, mark), address.slice(mark)]
}

function flat(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
