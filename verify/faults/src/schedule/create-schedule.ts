import type { AgentEventType } from '@aiagent/client'
import { type Fault, WEATHERS } from '@aiagent/emulator'
import { Random } from './random.ts'
import type { RunSetup, Schedule, Step, StoreSetup } from './step.ts'

type Make<T> = (random: Random) => T

const forMs: Make<number> = random => random.pick([1, 300, 3_000, 40_000])
const times: Make<number> = random => random.integer(1, 4)
const route: Make<string> = random => random.pick(['GET /*', 'POST *', '*/session', '*transcript*'])

/** The conditions between a client and a real service that let it through. */
const WEATHER: readonly Fault[] = Object.values(WEATHERS).flatMap(({ passing }) => passing)

/** Faults that delay, refuse and break, but lose no written frame. */
const HARMLESS: readonly (readonly [number, Make<Fault>])[] = [
  [4, r => ({ kind: 'drop', code: r.pick([1000, 1001, 1006, 1006, 1006, 1011, 1013, 4000, 4404]) })],
  [2, r => ({ kind: 'refuse-upgrade', status: r.pick([401, 429, 500, 503]), times: times(r) })],
  [1, r => ({ kind: 'hang-upgrade', forMs: forMs(r) })],
  [2, r => ({ kind: 'answer', route: route(r), status: r.pick([404, 429, 500, 503]), times: times(r) })],
  [
    2,
    r => ({ kind: 'answer', route: route(r), status: 200, body: r.pick(['', '<html>', '{"a":', []]), times: times(r) }),
  ],
  [1, r => ({ kind: 'hang-request', route: route(r), forMs: forMs(r) })],
  [1, r => ({ kind: 'delay-requests', ms: r.pick([1, 700, 12_000]), jitterMs: 100, times: times(r) })],
  [1, r => ({ kind: 'truncate-body', route: route(r), times: times(r) })],
  [1, r => ({ kind: 'stall-body', route: route(r), forMs: forMs(r) })],
  [3, r => ({ kind: 'restart', memory: r.chance(0.7), downMs: r.pick([0, 50, 2_500]), code: r.pick([1001, 1006]) })],
  [1, () => ({ kind: 'end-session' })],
  [1, () => ({ kind: 'forget-session' })],
  [2, r => ({ kind: 'expire-tokens', secondsLeft: r.pick([0, 0, 30]) })],
  [1, r => ({ kind: 'push', frame: r.pick(['not even JSON', { persona: 'agent', role: 'r', content: 'pushed' }]) })],
  [3, r => r.pick(WEATHER)],
]

/** Faults that also lose what is under way when the connection ends. */
const LOSSY: readonly (readonly [number, Make<Fault>])[] = [
  [2, r => ({ kind: 'silence', forMs: forMs(r), alsoLater: r.chance(0.3) })],
  [2, r => ({ kind: 'delay-frames', ms: r.pick([1, 400, 6_000]), jitterMs: 300, forMs: forMs(r) })],
  [1, r => ({ kind: 'slow-link', bytesPerSecond: r.pick([200, 20_000]), forMs: forMs(r) })],
]

const LISTENED: readonly AgentEventType[] = [
  'stateChanged',
  'connected',
  'closed',
  'error',
  'message',
  'agentMessage',
  'queueFlushed',
  'transcriptUpdate',
  'initialized',
]

const maybeAbort = (random: Random) => (random.chance(0.2) ? { abortAfterMs: random.pick([0, 1, 50, 5_000]) } : {})

const HOST_STEPS: readonly (readonly [number, Make<Step>])[] = [
  [
    12,
    r => ({
      do: 'send',
      count: r.weighted([
        [5, 1],
        [3, r.integer(2, 5)],
        [2, r.integer(10, 40)],
      ]),
    }),
  ],
  [3, r => ({ do: 'ask', count: r.integer(1, 3), timeoutMs: r.pick([500, 5_000, 20_000]), ...maybeAbort(r) })],
  [1, r => ({ do: 'initialize', ...maybeAbort(r) })],
  [6, r => ({ do: 'connect', ...maybeAbort(r) })],
  [2, r => ({ do: 'restart', ...maybeAbort(r) })],
  [2, r => ({ do: 'disconnect', skipGoodbye: r.chance(0.5) })],
  [1, () => ({ do: 'clear-queue' })],
  [1, () => ({ do: 'logout' })],
  [1, () => ({ do: 'change-user' })],
  [1, r => ({ do: 'set-context', sendNow: r.chance(0.5) })],
  [1.5, r => ({ do: 'retry', which: r.integer(0, 20) })],
  [1, r => ({ do: 'cancel', which: r.integer(0, 20) })],
  [1, r => ({ do: 'throwing-listener', event: r.pick(LISTENED), rejects: r.chance(0.3) })],
]

const PORTAL_STEPS: readonly (readonly [number, Make<Step>])[] = [
  [3, r => ({ do: 'pick-portal', which: r.integer(0, 2) })],
  [2, r => ({ do: 'pick-agent', which: r.integer(0, 1) })],
  [1, r => ({ do: 'change-profile', which: r.integer(0, 2) })],
  [2, r => ({ do: 'back', which: r.integer(0, 2) })],
]

const ELAPSE: Make<Step> = random => ({ do: 'elapse', ms: random.pick([1, 5, 60, 60, 1_000, 1_000, 11_000, 31_000]) })

const SIMULATED_STEPS: readonly (readonly [number, Make<Step>])[] = [
  [1, r => ({ do: r.pick(['hide', 'return']) })],
  [1, r => ({ do: 'sleep', ms: r.pick([3_000, 45_000]) })],
  [1, r => ({ do: 'shift-clock', ms: r.pick([-7_200_000, -5_000, 5_000, 600_000, 7_200_000]) })],
]

const TCP_STEPS: readonly (readonly [number, Make<Step>])[] = [
  [4, () => ({ do: 'tcp-cut' })],
  [2, r => ({ do: 'tcp-stall', alsoLater: r.chance(0.3) })],
  [2, () => ({ do: 'tcp-resume' })],
  [1, r => ({ do: 'tcp-refuse', isRefusing: r.chance(0.6) })],
  [1, r => ({ do: 'tcp-delay', ms: r.pick([0, 20, 300]), jitterMs: r.pick([0, 100]) })],
]

/** Creates the schedule of a seed: the same seed and transport always give the same one. */
export function createSchedule(seed: number, transport: Schedule['transport']): Schedule {
  const random = new Random(seed)
  const setup = createSetup(random, transport)
  const isLossy = random.chance(0.5)
  const hasUsers = random.chance(0.4)
  const isProxied = transport === 'proxied'
  const host = HOST_STEPS.filter(([, make]) => hasUsers || !changesUser(make))
  const fault = (r: Random): Step => ({
    do: 'fault',
    fault: r.weighted(isLossy ? [...HARMLESS, ...LOSSY] : HARMLESS)(r),
  })
  const halfOpen = (r: Random): Step => ({ do: 'half-open', forMs: forMs(r), alsoLater: r.chance(0.2) })
  const reload = (r: Random): Step => ({ do: 'reload', how: !isProxied && r.chance(0.6) ? 'crash' : 'destroy' })
  const kinds: (readonly [number, Make<Step>])[] = [
    [10, r => r.weighted(host)(r)],
    [7, ELAPSE],
    [5, fault],
    [1, () => ({ do: 'lift' })],
    [1.5, () => ({ do: 'agent-says' })],
    ...(setup.agent === 'desk' ? [[4, (r: Random) => r.weighted(PORTAL_STEPS)(r)] as const] : []),
    ...(setup.store ? [[2, reload] as const] : []),
    ...(isProxied
      ? [[5, (r: Random) => r.weighted(TCP_STEPS)(r)] as const]
      : [[1.5, (r: Random) => r.weighted(SIMULATED_STEPS)(r)] as const]),
    ...(isLossy ? [[1.5, halfOpen] as const] : []),
  ]
  const length = random.weighted([
    [3, random.integer(2, 10)],
    [5, random.integer(8, 30)],
    [1, random.integer(30, 60)],
  ])
  const steps = Array.from({ length }, () => random.weighted(kinds)(random))
  return { seed, transport, setup, steps }
}

function createSetup(random: Random, transport: Schedule['transport']): RunSetup {
  const hasPage = transport === 'in-process' && random.chance(0.5)
  return {
    agent: random.weighted<RunSetup['agent']>([
      [9, 'help'],
      [9, 'account'],
      [5, 'desk'],
    ]),
    hasPage,
    ...(!hasPage && random.chance(0.5) && { store: createStore(random) }),
    startsConnected: random.chance(0.75),
    recovers: random.chance(0.85),
    maxQueueSize: random.chance(0.1) ? 20 : 1000,
    delivery: random.chance(0.8) ? 'at-most-once' : 'at-least-once',
    replyDelayMs: random.pick([0, 0, 20, 700]),
    unknownSession: random.chance(0.7) ? 'refuse' : 'close-4404',
    capabilities: random.weighted<RunSetup['capabilities']>([
      [5, []],
      [4, ['receipts', 'resume']],
      [1, ['receipts']],
      [1, ['resume']],
    ]),
    history: random.chance(0.7) ? 'chat' : 'rest',
  }
}

function createStore(random: Random): StoreSetup {
  return { delayMs: random.pick([0, 0, 20, 400, 1_500]), actsFirst: random.chance(0.5), resumes: random.chance(0.5) }
}

/** Whether a kind of step leaves one user's conversation for another's. */
function changesUser(make: Make<Step>): boolean {
  const kind = make(new Random(0)).do
  return kind === 'logout' || kind === 'change-user'
}
