import type { PreAuthConfig } from '@aiagent/client'
import type { Emulator } from '@aiagent/emulator'
import { CommandFailure } from '../failure.ts'

/**
 * A token of a user of the emulator, with its renewal.
 *
 * @param role id of the user. Default: a staff user if the agent is for staff, else no user
 * @throws {CommandFailure} when the emulator has no such user
 */
export function demoUserAuth(
  { world, control }: Pick<Emulator, 'world' | 'control'>,
  agentId: string,
  role: string | undefined,
): PreAuthConfig | undefined {
  if (role !== undefined && !world.users.has(role))
    throw new CommandFailure(
      `The emulator has no user "${role}". The users are: ${[...world.users.keys()].join(', ')}.`,
    )
  const subject = role ?? staffFor(world, agentId)
  if (subject === undefined) return undefined
  const issue = () => control.issueToken({ subject })
  return { accessToken: issue(), refreshTokenFn: issue }
}

function staffFor(world: Emulator['world'], agentId: string): string | undefined {
  const details = world.agents.get(agentId)?.details
  if (!details?.isAuthenticated || details.userType !== 'agent') return undefined
  const tenant = world.tenantIdOfDepartment(details.departmentId)
  return [...world.users.values()].find(({ id, userType }) => userType === 'agent' && world.tenantIdOf(id) === tenant)
    ?.id
}
