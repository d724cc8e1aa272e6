import { NOTHING } from './util/values.ts'

/** Deployment environments for which connector scripts are published. */
export type EnvironmentName = 'dev' | 'qa' | 'non-prod' | 'prod'

const ENVIRONMENTS: readonly EnvironmentName[] = ['dev', 'qa', 'non-prod', 'prod']

/** The `initParams` that the library reads. Blank values count as missing. */
export interface KnownInitParams {
  /** Portals to choose from instead of the service's list. Empty when not given. */
  readonly portalIds: readonly string[]
  /** Fallback for a missing `agentDetails.departmentId`. */
  readonly departmentId: string | undefined
  /** Agent id for the intersection of portals. It never changes which agent is loaded. */
  readonly agentId: string | undefined
  /** User id in the cache keys of portals. */
  readonly userId: string | undefined
  /** Sent with every portal manager call. */
  readonly shortUrlTemplate: string | undefined
  /** `customer`, `user` or another value, in lower case. */
  readonly authType: string | undefined
  /** True when the user chooses an agent within the portal (Flow B). */
  readonly isDefaultAgent: boolean
  /** Client id of the login that the library configures. */
  readonly clientId: string | undefined
  /** Platform whose connector is loaded, unchanged. */
  readonly platform: string | undefined
  /** Environment of the connector; `prod` for an unknown value. */
  readonly environment: EnvironmentName | undefined
}

/** Accepted spellings of each parameter. The first one that is not blank wins. */
const SPELLINGS = {
  portalIds: ['portalIds', 'portalids'],
  departmentId: ['departmentId', 'departmentid'],
  agentId: ['agentid', 'agentId'],
  userId: ['userid', 'userId'],
  shortUrlTemplate: ['templateName', 'shortUrlTemplate', 'vendortemplate'],
  authType: ['authType'],
  isDefaultAgent: ['isDefaultAgent'],
  clientId: ['vendorclientid', 'vendorclientId', 'vendorClientId'],
  platform: ['platform'],
  environment: ['env'],
} as const satisfies Record<keyof KnownInitParams, readonly string[]>

/** The result without any parameter, for all agents. Created on first use. */
let none: KnownInitParams | undefined

/** Reads the parameters that the library knows. */
export function readInitParams(initParams: Readonly<Record<string, string>>): KnownInitParams {
  return initParams === NOTHING ? (none ??= read(initParams)) : read(initParams)
}

function read(initParams: Readonly<Record<string, string>>): KnownInitParams {
  const value = (name: keyof typeof SPELLINGS) => {
    for (const spelling of SPELLINGS[name]) {
      const given = Object.hasOwn(initParams, spelling) ? initParams[spelling]?.trim() : undefined
      if (given) return given
    }
    return undefined
  }
  const environment = value('environment')
  return {
    portalIds: list(value('portalIds')),
    departmentId: value('departmentId'),
    agentId: value('agentId'),
    userId: value('userId'),
    shortUrlTemplate: value('shortUrlTemplate'),
    authType: value('authType')?.toLowerCase(),
    isDefaultAgent: value('isDefaultAgent')?.toLowerCase() === 'true',
    clientId: value('clientId'),
    platform: value('platform'),
    environment: environment === undefined ? undefined : toEnvironmentName(environment),
  }
}

/** The environment of that name, ignoring case; `prod` for an unknown or missing name. */
export function toEnvironmentName(word: string | null | undefined): EnvironmentName {
  const name = word?.trim().toLowerCase()
  return ENVIRONMENTS.find(each => each === name) ?? 'prod'
}

/** Splits at commas; trims, and removes blanks and duplicates. */
function list(text: string | undefined): readonly string[] {
  const parts = text?.split(',').map(part => part.trim()) ?? []
  return [...new Set(parts)].filter(Boolean)
}
