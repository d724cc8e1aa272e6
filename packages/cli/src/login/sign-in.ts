import type { Logger, PreAuthConfig } from '@aiagent/client'
import type { CodeLoginRequest } from '@aiagent/client/pkce'
import { loadAgent } from '../auth/load-agent.ts'
import type { LoginOptions } from '../command-line.ts'
import { CommandFailure } from '../failure.ts'
import type { Io } from '../io.ts'
import { formatSeconds, oneLine } from '../output.ts'
import { loadLogin } from './login-addresses.ts'
import { browserCommands, openBrowser } from './open-browser.ts'
import { openRedirectListener } from './redirect-listener.ts'
import { TimeLimitReached, withTimeLimit } from './time-limit.ts'
import { type GrantedTokens, TokenExchange } from './token-exchange.ts'

export interface SignInOptions {
  endpoint: string
  agentId: string
  login: LoginOptions
  io: Pick<Io, 'env' | 'interrupted'>
  logger: Logger
  /** Prints a note for the user. */
  show(text: string): void
}

/**
 * Signs the user in with their browser: authorization code with PKCE, returning to a local address of this program. The
 * tokens stay in memory.
 *
 * @returns the token and its renewal; `undefined`, without a login, for an agent that is open to everybody
 * @throws {CommandFailure} when the user did not sign in
 * @throws {SDKError} when a call to the deployment fails
 */
export async function signIn(options: SignInOptions): Promise<PreAuthConfig | undefined> {
  const { endpoint, agentId, login, io, logger, show } = options
  const signal = io.interrupted
  const { deployment, agent } = await loadAgent({ endpoint, agentId, logger, signal })
  if (!agent?.isAuthenticated) {
    show(`${oneLine(agent?.name || agentId)} is open to everybody, so no login is needed.`)
    return undefined
  }
  const addresses = await loadLogin({ deployment, agent, clientId: login.clientId }, signal)
  const exchange = await TokenExchange.open(addresses, signal)
  const tokens = await waitForUser(exchange, options)
  show(tokens.name === undefined ? 'Signed in.' : `Signed in as ${oneLine(tokens.name)}.`)
  return asPreAuth(tokens, exchange, signal)
}

/** Opens the login page and waits for the answer. */
async function waitForUser(exchange: TokenExchange, { login, io, show }: SignInOptions): Promise<GrantedTokens> {
  const { timeoutMs } = login
  const listener = await openRedirectListener()
  try {
    const request = await exchange.createRequest(listener.redirectUri)
    const answer = await withTimeLimit(timeoutMs, io.interrupted, async limit => {
      const answered = listener.answerTo(request.state, limit)
      await Promise.race([showLoginPage(request, timeoutMs, io, show), answered])
      return answered
    })
    return await exchange.redeem(answer, request, io.interrupted)
  } catch (error) {
    if (!(error instanceof TimeLimitReached)) throw error
    throw new CommandFailure(
      `No login within ${formatWait(timeoutMs)}. Start again; use --login-timeout to wait longer.`,
    )
  } finally {
    await listener.close()
  }
}

async function showLoginPage(
  { address }: CodeLoginRequest,
  timeoutMs: number,
  { env }: Pick<Io, 'env'>,
  show: (text: string) => void,
): Promise<void> {
  show(
    `Sign in with your browser. If it does not open, open this address:\n${address}\nWaiting ${formatWait(timeoutMs)} for the login. Press Ctrl-C to cancel.`,
  )
  await openBrowser(browserCommands(address, { env, platform: process.platform }))
}

function formatWait(milliseconds: number): string {
  const minutes = milliseconds / 60_000
  return Number.isInteger(minutes) ? `${minutes} min` : formatSeconds(milliseconds)
}

/** The token for the agent, renewed with its refresh token if there is one. */
function asPreAuth(tokens: GrantedTokens, exchange: TokenExchange, signal: AbortSignal): PreAuthConfig {
  let { refreshToken } = tokens
  if (refreshToken === undefined) return { accessToken: tokens.accessToken }
  const renew = async (current: string) => {
    const renewed = await exchange.renew(current, signal)
    // Many providers accept each refresh token only once.
    refreshToken = renewed.refreshToken ?? current
    return renewed.accessToken
  }
  let renewing: Promise<string> | undefined
  return {
    accessToken: tokens.accessToken,
    refreshTokenFn: () => {
      renewing ??= renew(refreshToken ?? '').finally(() => {
        renewing = undefined
      })
      return renewing
    },
  }
}
