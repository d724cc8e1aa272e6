import type { AgentDetails, AgentListItem, Portal, PortalDetails, UserProfile } from '@aiagent/protocol'
import { ManualClock } from '@aiagent/test-support'
import type { CallState } from '../src/contact-center/connector/call-state.ts'
import { PortalPipeline } from '../src/contact-center/portal/portal-pipeline.ts'
import type { PortalInput } from '../src/contact-center/portal/portal-run.ts'
import { ProfileCache, SelectedProfileStore } from '../src/contact-center/portal/profile-stores.ts'
import type { AgentEventType, Emit } from '../src/events.ts'
import type { LoadedAgent } from '../src/facts.ts'
import { type KnownInitParams, readInitParams } from '../src/init-params.ts'
import { resolveEnvironment } from '../src/platform/default-environment.ts'
import type { ApiHelper } from '../src/rest/api-helper.ts'
import type { Awaitable } from '../src/storage/cache-adapter.ts'
import { MemoryCacheAdapter } from '../src/storage/memory-cache-adapter.ts'
import { clientOf, setUpScope } from './fake-scope.ts'
import { FakeStorage } from './fake-service.ts'

/** Response of the fake API: a value, an error to throw, or a function of the options. */
type Answer<T> = T | Error | Promise<T> | ((options: Record<string, unknown>) => T | Promise<T>)

export interface PortalAnswers {
  getPortals: Answer<Portal[]>
  getMyPortals: Answer<Portal[]>
  getPortalDetails: Answer<PortalDetails | null>
  getAgentsByPortal: Answer<AgentListItem[]>
  getUserProfiles: Answer<UserProfile[]>
  selectUserProfile: Answer<void>
}

/** The input of a run, and what the run finds in its agent. */
export interface RunInput extends Omit<PortalInput, 'loaded'> {
  api: ApiHelper
  agent: AgentDetails
  params: Partial<KnownInitParams>
  getToken(): Awaitable<string | null>
}

export const SUPPORT: Portal = { id: 1, name: 'Support', department: { id: 9 } }
export const SALES: Portal = { id: 2, name: 'Sales', department: { id: 9 } }
export const STAFF: Portal = { id: 3, name: 'Staff', department: { id: 8 } }
export const MEMBER: UserProfile = { id: 10, name: 'Member' }
export const GUEST: UserProfile = { id: 11, name: 'Guest' }
export const ORDERS: AgentListItem = { agentId: 'a', name: 'Orders' }
export const REPAIRS: AgentListItem = { agentId: 'b', name: 'Repairs' }

/** Creates a pipeline over a fake API with two profiles in each portal; `told` records its notifications in order. */
export function setUpPortals(given: Partial<PortalAnswers> = {}) {
  const answers: PortalAnswers = {
    getPortals: [SUPPORT, SALES, STAFF],
    getMyPortals: [SUPPORT, SALES, STAFF],
    getPortalDetails: { departmentId: 9 },
    getAgentsByPortal: [ORDERS, REPAIRS],
    getUserProfiles: [MEMBER, GUEST],
    selectUserProfile: undefined,
    ...given,
  }
  const calls: string[] = []
  const requests: Array<{ name: string; options: Record<string, unknown> }> = []
  const call =
    <Name extends keyof PortalAnswers>(name: Name) =>
    async (given: object) => {
      const options: Record<string, unknown> = { ...given }
      requests.push({ name, options })
      const ids = [options['portalId'], options['profileId']].filter(id => id !== undefined)
      calls.push([name, ...ids].join(' '))
      const answer: unknown = answers[name]
      if (answer instanceof Error) throw answer
      const value: unknown = await (typeof answer === 'function' ? answer(options) : answer)
      return structuredClone(value) as never
    }
  const api = {
    getPortals: call('getPortals'),
    getMyPortals: call('getMyPortals'),
    getPortalDetails: call('getPortalDetails'),
    getAgentsByPortal: call('getAgentsByPortal'),
    getUserProfiles: call('getUserProfiles'),
    selectUserProfile: call('selectUserProfile'),
    invalidateCache: async (name: string) => void calls.push(`invalidateCache ${name}`),
  } as unknown as ApiHelper
  const clock = new ManualClock()
  const adapter = new MemoryCacheAdapter()
  const storage = new FakeStorage()
  const environment = resolveEnvironment({ clock, sessionStorage: storage, memory: new MemoryCacheAdapter() })
  const told: Array<[name: string, ...facts: unknown[]]> = []
  const tell =
    (name: string) =>
    (...facts: unknown[]) =>
      void told.push([name, ...facts])
  const emit: Emit<AgentEventType> = (type, payload) => tell(type.replace('Available', ''))(...Object.values(payload()))
  const scope = Object.assign(setUpScope({ environment, logger: { warn: tell('warning') } }), { emit })
  let getToken: RunInput['getToken'] = () => 'token'
  const authentication = { getToken: async () => (await getToken()) as string }
  const pipeline = new PortalPipeline({
    scope,
    authentication,
    profileCache: new ProfileCache({ environment, deployment: 'https://a.test', agent: '7', adapter }),
    selectedProfiles: new SelectedProfileStore({
      environment,
      deployment: 'https://a.test',
      logger: { warn: tell('refused') },
    }),
    onComplete: tell('complete'),
    onSwitch: tell('switch'),
    calls: { setUserFilterTags: tell('tags') } as unknown as CallState,
  })
  /** The input of the next run, for an agent with the given parameters and token. */
  const input = ({
    api: helper = api,
    agent = {},
    params: given,
    getToken: token = () => 'token',
    ...more
  }: Partial<RunInput> = {}) => {
    Object.assign(scope, { params: params(given) })
    getToken = token
    const loaded = { deployment: { tenant_identifier: 'acme' }, api: clientOf(helper), agent } as LoadedAgent
    return { loaded, context: {}, ...more }
  }
  const names = () => told.map(([name]) => name)
  return { pipeline, input, answers, calls, requests, told, names, clock, adapter, storage, api, scope, authentication }
}

/** Flow B: the user chooses the agent within the portal. */
export const FLOW_B = {
  agent: { departmentId: 9 },
  params: { ...readInitParams({}), isDefaultAgent: true },
} satisfies Partial<RunInput>

/** The given host parameters; all others are missing. */
export const params = (given: Partial<KnownInitParams> = {}): KnownInitParams => ({
  ...readInitParams({}),
  ...given,
})
