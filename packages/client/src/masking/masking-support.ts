import type { AgentDetails } from '@aiagent/protocol'

/** The first release of the service with masking patterns. */
const FIRST_RELEASE = [21, 22, 2] as const

/** A version number of a release: two of its three parts may be missing. */
const RELEASE = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/

/**
 * Whether the content of this agent's chats must be masked: its details request it, and the deployment supports it.
 *
 * @param version of the deployment, read leniently: the first number that looks like a version, without anything after
 *   a third part. False if there is none.
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
