import { readFile } from 'node:fs/promises'
import { AuthenticationService, Logger } from '@aiagent/client'
import { loadAgent } from '../auth/load-agent.ts'
import { readSecretLine } from '../auth/read-secret.ts'
import { describeToken, reportToken, type TokenReport } from '../auth/token-report.ts'
import { logLevelOf, showLog } from '../chat/log-lines.ts'
import type { TokenOptions, TokenSource } from '../command-line.ts'
import { EXIT } from '../exit-codes.ts'
import { CommandFailure, explainFailure } from '../failure.ts'
import type { Io } from '../io.ts'
import { startEmulator } from '../start-emulator.ts'
import { printableJson, writeEntry } from '../terminal-text.ts'

interface FoundToken extends Pick<TokenReport, 'source' | 'from'> {
  token: string
  /** A note for the user. */
  note?: string
}

/**
 * Prints scopes, claims and remaining life of an access token, never the token.
 *
 * @returns the exit code
 * @throws {CommandFailure} when there is no token
 */
export async function token(options: TokenOptions, io: Io): Promise<number> {
  const { note, ...found } = await findToken(options, io)
  const report = reportToken(found.token, found, Date.now())
  if (options.json) io.stdout.write(`${printableJson(report)}\n`)
  else for (const entry of describeToken(report)) writeEntry(io.stdout, entry)
  if (note !== undefined) writeEntry(io.stderr, note)
  return EXIT.SUCCESS
}

async function findToken(options: TokenOptions, io: Io): Promise<FoundToken> {
  const { source, logLevel } = options
  const logger = new Logger({ level: logLevelOf(logLevel), enableConsole: false })
  showLog(logger, logLevel, entry => writeEntry(io.stderr, entry))
  switch (source.kind) {
    case 'anonymous':
      return anonymousToken(options, logger, io)
    case 'client-credentials':
      return clientCredentialsToken(source, options, logger)
    case 'given':
      return { source: 'given', token: asToken(source.token ?? (await readSecretLine(io, 'Access token: '))) }
    default:
      return source satisfies never
  }
}

async function anonymousToken(options: TokenOptions, logger: Logger, io: Io): Promise<FoundToken> {
  const { agent: agentId, scopes } = options
  const server = options.endpoint === undefined ? await startEmulator() : undefined
  const endpoint = options.endpoint ?? server?.url ?? ''
  try {
    const loaded = await loadAgent({
      endpoint,
      logger,
      signal: io.interrupted,
      ...(agentId !== undefined && { agentId }),
      ...(scopes && { scopes }),
    })
    const wantsLogin = loaded.agent?.isAuthenticated === true
    return {
      source: 'anonymous',
      from: server ? 'an emulator' : endpoint,
      token: loaded.token,
      ...(wantsLogin && { note: `The agent ${agentId} requires a signed-in user: use aiagent chat --login.` }),
    }
  } catch (error) {
    throw explained(error, endpoint, agentId)
  } finally {
    await server?.close()
  }
}

async function clientCredentialsToken(
  { clientId, tokenUrl, secret }: Extract<TokenSource, { kind: 'client-credentials' }>,
  { endpoint, scopes }: TokenOptions,
  logger: Logger,
): Promise<FoundToken> {
  const clientSecret = 'text' in secret ? secret.text : await readSecretFile(secret.file)
  const config = { tokenUrl, clientId, clientSecret, ...(scopes && { scopes }) }
  const { host } = new URL(tokenUrl)
  try {
    const authentication = new AuthenticationService({ type: 'client-credentials', config }, { logger })
    // The deployment is not called. Its address decides whether plain http is allowed for the secret.
    await authentication.initialize({ deploymentInfo: { apiDomain: endpoint ?? host } })
    const token = await authentication.getToken()
    await authentication.cleanup()
    return { source: 'client-credentials', from: host, token }
  } catch (error) {
    throw explained(error, tokenUrl)
  }
}

async function readSecretFile(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(cause => {
    const { code = 'it failed' } = cause as NodeJS.ErrnoException
    throw new CommandFailure(`Could not read the client secret from ${file} (${code}).`, { cause })
  })
  if (text.trim() === '') throw new CommandFailure(`Could not read the client secret from ${file}: the file is empty.`)
  return text.trim()
}

/** A pasted token: without quotes and without `Bearer`. */
function asToken(text: string): string {
  const token = text
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .replace(/^bearer\s+/i, '')
  if (token === '') throw new CommandFailure('The input has no access token.')
  if (/\s/.test(token)) throw new CommandFailure('The input is not an access token: it contains blanks.')
  return token
}

function explained(error: unknown, endpoint: string, agent?: string): CommandFailure {
  const setting = { endpoint, ...(agent !== undefined && { agent }) }
  return new CommandFailure(explainFailure(error, setting), { cause: error })
}
