import type { AgentDetails } from '@aiagent/protocol'

/** The first release of the service that hands out masking patterns. */
const FIRST_RELEASE = [21, 22, 2] as const

/** A number as releases have it: two of its three parts may be missing. */
const RELEASE = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/

/**
 * Whether the content of this agent's chats is to be masked: its details say so, and the deployment can.
 *
 * @param version of the deployment, read leniently: the first number in it that looks like one, without what follows a
 *   third part. Where there is none, the answer is no.
 */
export function isMaskingSupported(
  version: string | null | undefined,
  agent: Pick<AgentDetails, 'enableDataMasking'>,
): boolean {
  const release = RELEASE.exec(version ?? '')
  return release !== null && agent.enableDataMasking === true && isFirstReleaseOrLater(release.slice(1))
}

function isFirstReleaseOrLater(parts: readonly (string | undefined)[]): boolean {
  for (const [index, needed] of FIRST_RELEASE.entries()) {
    const part = Number(parts[index] ?? 0)
    if (part !== needed) return part > needed
  }
  return true
}
