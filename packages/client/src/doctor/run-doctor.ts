import { resolveEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import { watchPolicy } from '../platform/network-failure.ts'
import { VERSION } from '../version.ts'
import { checkAnswer, checkChat, checkIdle } from './chat-checks.ts'
import type { DoctorOptions, Examination } from './examination.ts'
import { checkCors, checkLogin, checkPolicy, checkStorage } from './page-checks.ts'
import {
  type DoctorCheck,
  type DoctorFinding,
  type DoctorReport,
  type DoctorStatus,
  failed,
  REMEDIES,
  redact,
  skipped,
  type Verdict,
} from './report.ts'
import {
  checkAgent,
  checkClock,
  checkDeployment,
  checkEndpoint,
  checkMetadata,
  checkScopes,
  checkSession,
  checkToken,
} from './service-checks.ts'

interface Check {
  /** Checks that must not have failed or been skipped. */
  needs: readonly DoctorCheck[]
  run(examination: Examination): Verdict | Promise<Verdict>
}

const CHECKS: Readonly<Record<DoctorCheck, Check>> = {
  endpoint: { needs: [], run: checkEndpoint },
  deployment: { needs: ['endpoint'], run: checkDeployment },
  clock: { needs: ['deployment'], run: checkClock },
  metadata: { needs: ['deployment'], run: checkMetadata },
  token: { needs: ['deployment'], run: checkToken },
  agent: { needs: ['token'], run: checkAgent },
  scopes: { needs: ['agent'], run: checkScopes },
  session: { needs: ['agent'], run: checkSession },
  chat: { needs: ['session'], run: checkChat },
  answer: { needs: ['chat'], run: checkAnswer },
  idle: { needs: ['chat'], run: checkIdle },
  storage: { needs: [], run: checkStorage },
  login: { needs: [], run: checkLogin },
  cors: { needs: ['endpoint'], run: checkCors },
  policy: { needs: ['endpoint'], run: checkPolicy },
}

/**
 * Examines a deployment step by step, as an agent would use it: endpoint, deployment information, token, agent, session
 * and chat, and in a page also storage, popups, CORS and the content security policy. Says what is wrong and what helps.
 *
 * Creates one session and opens one chat, which it leaves at the end.
 *
 * @returns the report; a problem of the deployment never rejects the promise
 * @throws the reason of `signal` when it is aborted
 */
export async function runDoctor(options: DoctorOptions): Promise<DoctorReport> {
  const platform = resolveEnvironment(options.environment)
  const examination: Examination = {
    options: { ...options, agent: options.agent ?? 'help', timeoutMs: options.timeoutMs ?? 10_000 },
    environment: platform,
    secrets: new Set([options.token ?? '']),
    unreachable: new Set(),
    violations: new Map(),
    requests: [],
  }
  Object.assign(examination, { environment: observed(platform, examination) })
  // What the content security policy of the page blocks, until the end of the examination.
  const unwatch = watchPolicy(platform.page?.window ?? {}, (origin, directive) => {
    examination.violations.set(origin, directive)
    examination.socket?.onChange()
  })
  const findings: DoctorFinding[] = []
  try {
    for (const [name, check] of Object.entries(CHECKS) as [DoctorCheck, Check][]) {
      options.signal?.throwIfAborted()
      const finding = await examine(name, check, examination, findings)
      findings.push(finding)
      options.onFinding?.(finding)
    }
  } finally {
    examination.socket?.leave()
    unwatch()
  }
  const has = (status: DoctorStatus) => findings.some(finding => finding.status === status)
  return {
    version: 1,
    library: VERSION,
    endpoint: redact(options.endpoint, examination.secrets),
    agent: examination.options.agent,
    createdAt: new Date(platform.clock.now()).toISOString(),
    status: has('failed') ? 'failed' : has('warning') ? 'warning' : 'passed',
    findings,
  }
}

async function examine(
  check: DoctorCheck,
  { needs, run }: Check,
  examination: Examination,
  earlier: readonly DoctorFinding[],
): Promise<DoctorFinding> {
  const { clock } = examination.environment
  const start = clock.monotonic()
  const missing = needs.find(need =>
    earlier.some(
      ({ check: other, status, code }) =>
        other === need && (status === 'failed' || status === 'skipped' || code === 'AGENT_NEEDS_LOGIN'),
    ),
  )
  const verdict = missing
    ? skipped(`Not checked: the check "${missing}" comes first.`)
    : await attempt(run, examination)
  const { status, code } = verdict
  return {
    check,
    status,
    ...(code && { code }),
    text: redact(verdict.text, examination.secrets),
    ...(code && { remedy: REMEDIES[code] }),
    ms: Math.round(clock.monotonic() - start),
  }
}

/** A check that throws has met something that it does not know: it counts as a failure of the deployment. */
async function attempt(run: Check['run'], examination: Examination): Promise<Verdict> {
  try {
    return await run(examination)
  } catch (error) {
    examination.options.signal?.throwIfAborted()
    return failed(
      'DEPLOYMENT_UNREADABLE',
      `The check failed: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

/** The platform, with a `fetch` that notes what was requested and the clock of the service. */
function observed(platform: Environment, examination: Examination): Environment {
  const fetch: Environment['fetch'] = async (input, init) => {
    const { origin, pathname } = new URL(input)
    const request = { method: init?.method ?? 'GET', status: 0, path: pathname }
    examination.requests.push(request)
    try {
      const response = await platform.fetch(input, init)
      request.status = response.status
      const date = Date.parse(response.headers.get('date') ?? '')
      if (!Number.isNaN(date)) examination.skewMs = date - platform.clock.now()
      return response
    } catch (error) {
      if (init?.mode !== 'no-cors' && !init?.signal?.aborted) examination.unreachable.add(origin)
      throw error
    }
  }
  // Getters stay getters: a page may forbid its stores.
  const descriptors = Object.getOwnPropertyDescriptors(examination.options.environment ?? {})
  const replaced = { ...descriptors, fetch: { value: fetch, enumerable: true, writable: true } }
  return resolveEnvironment(Object.defineProperties({}, replaced) as Partial<Environment>)
}
