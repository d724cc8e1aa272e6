import type { PreAuthConfig } from '@aiagent/client'
import type { Emulator } from '@aiagent/emulator'
import { CommandFailure } from '../failure.ts'

/**
 * The token of a person whom an emulator made up, renewed as often as it is needed.
 *
 * @param role who it is to be; without one, somebody of the staff for an agent that is for them, and nobody for others
 * @throws {CommandFailure} when the emulator knows nobody of that role
 */
export function demoUserAuth(
  { world, control }: Pick<Emulator, 'world' | 'control'>,
  agentId: string,
  role: string | undefined,
): PreAuthConfig | undefined {
  if (role !== undefined && !world.users.has(role))
    throw new CommandFailure(
      `The emulator knows nobody of the role "${role}". There are: ${[...world.users.keys()].join(', ')}.`,
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
