import type { MaskingPatterns } from '@aiagent/protocol'
import type { World } from '../world/world.ts'
import { RestError } from './error.ts'

/**
 * The masking rules of a department in a channel; no patterns if it has none.
 *
 * @throws {RestError} 404 when the tenant of a token's subject has no such department
 */
export function readMaskingPatterns(
  world: World,
  subject: string,
  departmentId: string,
  channel: string,
): MaskingPatterns {
  const department = world.departments.get(departmentId)
  if (!department || world.tenantIdOfDepartment(departmentId) !== world.tenantIdOf(subject))
    throw new RestError(404, '006', `There is no department "${departmentId}" here.`)
  return department.maskingPatterns?.[channel] ?? { patterns: [] }
}
