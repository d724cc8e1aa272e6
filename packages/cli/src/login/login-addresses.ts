import { AuthError } from '@aiagent/client'
import {
  type DeploymentLogin,
  type DeploymentLoginFacts,
  deploymentLogin,
  deploymentLoginPath,
} from '@aiagent/client/pkce'
import { type OAuthMetadata, parseOAuthMetadata, restBase } from '@aiagent/protocol'
import { CommandFailure } from '../failure.ts'
import { oneLine } from '../output.ts'
import { withTimeLimit } from './time-limit.ts'
import { unreachable } from './token-exchange.ts'

/** Time limit for an answer, in milliseconds. */
const REQUEST_LIMIT_MS = 30_000

/**
 * Loads the login of an agent from the OAuth metadata of its deployment.
 *
 * @throws {CommandFailure} when the metadata cannot be fetched, or do not describe a login for this agent
 */
export async function loadLogin(
  facts: Omit<DeploymentLoginFacts, 'metadata' | 'scopes'>,
  signal: AbortSignal,
): Promise<DeploymentLogin> {
  const { deployment, agent } = facts
  try {
    const metadata = await fetchLoginMetadata(deployment.apiDomain, deploymentLoginPath(agent, deployment), signal)
    return deploymentLogin({ ...facts, metadata })
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    // The client names the option of the library. Here it is the command's.
    const problem = oneLine(error.message).replace('initParams.vendorclientid', '--client-id')
    throw new CommandFailure(`The deployment has no login for this agent. ${problem}`, { cause: error })
  }
}

async function fetchLoginMetadata(apiDomain: string, path: string, signal: AbortSignal): Promise<OAuthMetadata> {
  const { host } = new URL(restBase(apiDomain))
  const { status, body } = await fetchJson(restBase(apiDomain) + path, signal, host)
  try {
    if (status === 200) return parseOAuthMetadata(body)
  } catch {
    // Reported below as an invalid answer.
  }
  throw new CommandFailure(`${host} did not return the addresses of the login (HTTP ${status}). Try again later.`)
}

/** Fetches an address. The body is `undefined` if it is not JSON. */
async function fetchJson(
  address: string,
  signal: AbortSignal,
  host: string,
): Promise<{ status: number; body: unknown }> {
  try {
    return await withTimeLimit(REQUEST_LIMIT_MS, signal, async limit => {
      const response = await fetch(address, { signal: limit, headers: { Accept: 'application/json' } })
      const text = await response.text()
      return { status: response.status, body: parse(text) }
    })
  } catch (error) {
    signal.throwIfAborted()
    throw new CommandFailure(unreachable(error, host), { cause: error })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
