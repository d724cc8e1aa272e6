import { AuthError } from '@aiagent/client'
import { CodeLogin, type CodeLoginRequest, type DeploymentLogin, type IssuedTokens } from '@aiagent/client/pkce'
import { readToken } from '../auth/access-token.ts'
import { CommandFailure, causeCode } from '../failure.ts'
import { oneLine } from '../output.ts'

export interface GrantedTokens {
  accessToken: string
  refreshToken?: string
  /** Name of the user, for display. */
  name?: string
}

/** The requests of a login at one provider, with failures in words for the user. Stores no token. */
export class TokenExchange {
  readonly #login: CodeLogin
  readonly #host: string

  private constructor(login: CodeLogin, host: string) {
    this.#login = login
    this.#host = host
  }

  /**
   * Checks the provider before the login.
   *
   * @throws {CommandFailure} when it is unreachable, fails, or names the issuer of another provider
   */
  static async open(login: DeploymentLogin, signal: AbortSignal): Promise<TokenExchange> {
    const { host } = login
    const opened = await explained(host, signal, () => CodeLogin.open(login, { signal }))
    return new TokenExchange(opened, new URL(login.tokenEndpoint).host)
  }

  createRequest(redirectUri: string): Promise<CodeLoginRequest> {
    return this.#login.createRequest(redirectUri)
  }

  /**
   * Exchanges the code in the provider's answer for tokens.
   *
   * @throws {CommandFailure} when the login was denied, or the answer is invalid
   */
  redeem(answer: URLSearchParams, request: CodeLoginRequest, signal: AbortSignal): Promise<GrantedTokens> {
    return this.#granted(signal, () => this.#login.redeem(answer, request, signal))
  }

  /**
   * Renews the tokens with a refresh token.
   *
   * @throws {CommandFailure} when the provider denies it or is unreachable
   */
  renew(refreshToken: string, signal: AbortSignal): Promise<GrantedTokens> {
    return this.#granted(signal, () => this.#login.renew(refreshToken, signal))
  }

  async #granted(signal: AbortSignal, ask: () => Promise<IssuedTokens>): Promise<GrantedTokens> {
    const { accessToken, refreshToken, idToken = '' } = await explained(this.#host, signal, ask)
    const { claims } = readToken(idToken)
    const name = [claims['name'], claims['preferred_username'], claims['email']].find(isText)
    return { accessToken, ...(refreshToken !== undefined && { refreshToken }), ...(name !== undefined && { name }) }
  }
}

async function explained<T>(host: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    signal.throwIfAborted()
    return await work()
  } catch (error) {
    signal.throwIfAborted()
    // The errors of the OAuth library contain whole answers, which may include tokens, so they are not passed on.
    throw new CommandFailure(explain(error, host))
  }
}

function explain(error: unknown, host: string): string {
  const { error: code, error_description: description, code: problem } = fields(error)
  const { reason } = fields(error instanceof AuthError ? error.cause : error)
  if (code === 'access_denied') return 'Nobody was signed in: the login was cancelled or refused (access_denied).'
  if (isText(code)) {
    const said = isText(description) ? `${code}: ${oneLine(description)}` : code
    return `The login of ${host} refuses: ${oneLine(said)}. Start again to sign in.`
  }
  if (error instanceof AuthError && (!error.cause || reason === 'redirect'))
    return error.status === undefined
      ? oneLine(error.message)
      : `The login of ${host} failed (HTTP ${error.status}). Try again later.`
  if (reason === 'timeout') return `The login of ${host} did not answer in time. Try again later.`
  if (isText(problem) && problem.startsWith('OAUTH_'))
    return `The login of ${host} gave an answer that cannot be trusted or understood (${problem}).`
  return unreachable(error, host)
}

/** The message for an unreachable login. */
export function unreachable(error: unknown, host: string): string {
  const code = error instanceof Error ? causeCode(error) : undefined
  return `The login of ${host} cannot be reached${code === undefined ? '' : ` (${code})`}. Check your network, and try again in a while.`
}

function fields(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return {}
  return error as Error & Record<string, unknown>
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
