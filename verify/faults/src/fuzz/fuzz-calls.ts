import { ApiHelper, MemoryCacheAdapter, SDKError } from '@aiagent/client'
import rest from '@aiagent/protocol/fixtures/rest.json' with { type: 'json' }
import { Random } from '../schedule/random.ts'
import { SimulatedClock, turnEventLoop } from '../service/run-clock.ts'
import { mutatedText } from './mutate.ts'

/** Longer than the time limit of a call with its repetitions, in milliseconds of the run's clock. */
const LIMIT_MS = 150_000

type Call = (api: ApiHelper) => Promise<unknown>

/** Every call of a helper with the valid body of its response. */
const CALLS: readonly (readonly [body: unknown, call: Call])[] = [
  [rest.agentDetails, api => api.getAgentDetails({ agentId: '7' })],
  [rest.sessionResponse, api => api.getAiAgentSession({ agentId: '7' })],
  [rest.portals, api => api.getPortals()],
  [rest.portals, api => api.getMyPortals()],
  [rest.portalDetails, api => api.getPortalDetails({ portalId: '5' })],
  [rest.agentsByPortal, api => api.getAgentsByPortal({ portalId: '5', departmentId: '9' })],
  [rest.userProfiles, api => api.getUserProfiles({ portalId: '5' })],
  [{}, api => api.selectUserProfile({ portalId: '5', profileId: '10' })],
  [rest.userDetails, api => api.getUserDetails()],
  [rest.customerDetails, api => api.getCustomerDetails()],
  [rest.maskingPatterns, api => api.getMaskingPatterns({ departmentId: '9' })],
  [rest.connectedApps, api => api.getConnectedApps({ agentId: '7', tenantId: 'TEN0001' })],
  [{ messages: [] }, api => api.getPreviousTranscript({ agentId: '7', sessionId: 's' })],
]

/**
 * Makes REST calls whose responses have mutated bodies. Each must settle, and fail only with an error of the library.
 * After each of them a call with a valid body must work.
 */
export async function fuzzCalls(seed: number, inputs: number): Promise<string[]> {
  const random = new Random(seed)
  const clock = new SimulatedClock()
  const problems: string[] = []
  let isBroken = true
  let body: unknown
  const fetch = async () => {
    const status = isBroken && random.chance(0.1) ? random.pick([201, 400, 401, 404, 429, 500]) : 200
    const text = isBroken ? mutatedText(body, random) : JSON.stringify(rest.agentDetails)
    return new Response(text, { status, headers: { 'Content-Type': 'application/json' } })
  }
  const environment = { fetch, clock: clock.agent, memory: new MemoryCacheAdapter() }
  const config = { apiDomain: 'http://127.0.0.1:8600', getToken: () => 'a.b.c', cache: { enabled: false } }
  const api = new ApiHelper(config, environment)
  const outcomeOf = async (call: Call): Promise<unknown> => {
    let outcome: { error?: unknown } | undefined
    call(api).then(
      () => {
        outcome = {}
      },
      error => {
        outcome = { error }
      },
    )
    await turnEventLoop(1)
    for (let passed = 0; !outcome && passed < LIMIT_MS; passed += 1_000) await clock.advance(1_000)
    return outcome ? outcome.error : new Error('The call has not settled.')
  }
  for (let given = 0; given < inputs; given++) {
    const [valid, call] = random.pick(CALLS)
    body = valid
    isBroken = true
    const error = await outcomeOf(call)
    if (error !== undefined && !(error instanceof SDKError))
      problems.push(`call ${given} of seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`)
    if (given % 500 !== 0) continue
    isBroken = false
    const next = await outcomeOf(CALLS[0]?.[1] ?? call)
    if (next !== undefined) problems.push(`after call ${given} of seed ${seed}: ${String(next)}`)
  }
  return problems
}
