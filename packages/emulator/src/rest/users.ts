import type { UserDetails } from '@aiagent/protocol'
import type { UserSeed } from '../world/seed.ts'
import type { World } from '../world/world.ts'

/** The user of a token, alone in a list; empty if the token belongs to no user of this kind. */
export function listPerson(world: World, subject: string, userType: UserSeed['userType']): UserDetails[] {
  const user = world.users.get(subject)
  if (user?.userType !== userType) return []
  const { id, name, email, details } = user
  return [{ ...details, id, name, ...(email !== undefined && { email }) }]
}
