/** The deployment environments that a platform's connector is published for. */
export type EnvironmentName = 'dev' | 'qa' | 'non-prod' | 'prod'

const ENVIRONMENTS: readonly EnvironmentName[] = ['dev', 'qa', 'non-prod', 'prod']

/** The parameters this library knows, out of all that the host hands through. Blank ones count as not given. */
export interface KnownInitParams {
  /** Portals to choose from, instead of a list that the service gives. Empty: not given. */
  readonly portalIds: readonly string[]
  /** Department where the agent names none. */
  readonly departmentId: string | undefined
  /** The agent that portals must serve, as the host names it; nothing else depends on it. */
  readonly agentId: string | undefined
  /** Whose portals they are, as far as the cache is concerned. */
  readonly userId: string | undefined
  /** Goes out with every call to the portal manager. */
  readonly shortUrlTemplate: string | undefined
  /** `customer`, `user` or another word, in lower case. */
  readonly authType: string | undefined
  /** True: the person chooses an agent within the portal. */
  readonly isDefaultAgent: boolean
  /** Scopes separated by commas, as given. */
  readonly scopes: string | undefined
  /** Client id of a login that the library configures. */
  readonly clientId: string | undefined
  /** The platform whose connector is loaded, as given. */
  readonly platform: string | undefined
  /** Environment of the connector; any word that names none is `prod`. */
  readonly environment: EnvironmentName | undefined
}

/** Spellings under which hosts give a parameter. The first that is not blank counts. */
const SPELLINGS = {
  portalIds: ['portalIds', 'portalids'],
  departmentId: ['departmentId', 'departmentid'],
  agentId: ['agentid', 'agentId'],
  userId: ['userid', 'userId'],
  shortUrlTemplate: ['templateName', 'shortUrlTemplate', 'vendortemplate'],
  authType: ['authType'],
  isDefaultAgent: ['isDefaultAgent'],
  scopes: ['scopes'],
  clientId: ['vendorclientid', 'vendorclientId', 'vendorClientId'],
  platform: ['platform'],
  environment: ['env'],
} as const satisfies Record<keyof KnownInitParams, readonly string[]>

/** Reads the parameters that this library knows. */
export function readInitParams(initParams: Readonly<Record<string, string>>): KnownInitParams {
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
    scopes: value('scopes'),
    clientId: value('clientId'),
    platform: value('platform'),
    environment: environment === undefined ? undefined : toEnvironmentName(environment),
  }
}

/** The environment that a word names, whatever its case; any other word, and none, is `prod`. */
export function toEnvironmentName(word: string | null | undefined): EnvironmentName {
  const name = word?.trim().toLowerCase()
  return ENVIRONMENTS.find(each => each === name) ?? 'prod'
}

/** The parts between commas, trimmed, without blanks and repetitions. */
function list(text: string | undefined): readonly string[] {
  const parts = text?.split(',').map(part => part.trim()) ?? []
  return [...new Set(parts)].filter(Boolean)
}
