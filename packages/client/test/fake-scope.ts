import type { AiAgentConfig } from '../src/config.ts'
import type { AgentEvent, AgentEventType } from '../src/events.ts'
import type { Logger } from '../src/logger.ts'
import { resolveEnvironment } from '../src/platform/default-environment.ts'
import type { Environment } from '../src/platform/environment.ts'
import type { ApiHelper } from '../src/rest/api-helper.ts'
import type { RestClient } from '../src/rest/rest-client.ts'
import { AgentScope } from '../src/scope.ts'

interface ScopeSetUp {
  config?: Partial<AiAgentConfig>
  environment?: Partial<Environment>
  /** What the service has announced. */
  capabilities?: readonly string[]
  /** The REST calls that the test answers. */
  api?: Partial<ApiHelper>
  isAuthenticated?: boolean
  /** Receives log entries of the part. @default none */
  logger?: Partial<Pick<Logger, 'debug' | 'warn' | 'error'>>
}

/** The scope of an agent whose deployment and details are known, for a part that is tested alone. Ids are `id-0`, `id-1` … */
export function setUpScope({
  config,
  environment,
  capabilities = [],
  api = {},
  isAuthenticated,
  logger,
}: ScopeSetUp = {}) {
  const named = { id: 'help', endpoint: 'https://a.test', enableLogging: false, ...config }
  const scope = new AgentScope(named, resolveEnvironment(environment))
  let ids = 0
  const silent = { debug() {}, warn() {}, error() {} }
  Object.assign(scope, {
    newId: () => `id-${ids++}`,
    ...(logger && { logger: { ...silent, ...logger } as Logger }),
  })
  scope.facts.setDeployment({
    deployment: { apiDomain: 'a.test', aiAgentDomain: 'a.test', capabilities } as never,
    api: clientOf(api),
  })
  scope.facts.setAgent({ agentId: 'help', name: 'Help Centre', isAuthenticated } as never)
  return scope
}

/** Calls a function with the payload of each event of a type. */
export function listen<Type extends AgentEventType>(
  scope: AgentScope,
  type: Type,
  listener: (payload: AgentEvent<Type>['payload']) => void,
): void {
  scope.events.on(type, event => listener((event as AgentEvent<Type>).payload))
}

/** A client whose calls are answered by methods of the same names. */
export function clientOf(api: Partial<ApiHelper>): RestClient {
  const answers = api as Record<string, (options: unknown) => unknown>
  const call = ({ name }: { name: string }, options: object) => answers[name]?.(options)
  return { call, invalidateCache: (name: string) => answers['invalidateCache']?.(name) } as unknown as RestClient
}
