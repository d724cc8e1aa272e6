import { AiAgent, type DeliveryState, MemoryCacheAdapter } from '@aiagent/client'
import { type FaultProxy, serveEmulator, startFaultProxy } from '@aiagent/emulator/node'
import type { Capability } from '@aiagent/protocol'

const MESSAGES = 6_000
const CUTS = 14
const LINK_DELAY_MS = 25
const HALF_OPEN_MESSAGES = 120

/** How long a dead connection may stay unnoticed before the proxy cuts it, in milliseconds. */
const NOTICE_LIMIT_MS = 30_000

/** How long evidence may take after the last reconnect, in milliseconds. */
const EVIDENCE_LIMIT_MS = 15_000

const SETTLED: ReadonlySet<unknown> = new Set<DeliveryState>(['acknowledged', 'unknown', 'failed', 'cancelled'])

/** A row of the table of figures. */
export type Figure = Readonly<Record<string, string | number>>

/** Measures what becomes of messages over connections that break, in real time through the TCP proxy. */
export async function measureFigures(): Promise<Figure[]> {
  const rows: Figure[] = []
  for (const capabilities of [[], ['receipts', 'resume']] satisfies Capability[][]) {
    rows.push(await measure(`${MESSAGES} at 1 per ms, ${LINK_DELAY_MS} ms link, ${CUTS} cuts`, capabilities, overCuts))
    rows.push(await measure(`${HALF_OPEN_MESSAGES} into a half-open connection`, capabilities, intoHalfOpen))
  }
  return rows
}

interface Rig {
  readonly agent: AiAgent
  readonly proxy: FaultProxy
  /** Sends the next message. */
  send(): void
}

/** Breaks connections while messages are sent. Returns the seconds until a dead connection was noticed, if it matters. */
type Scenario = (rig: Rig) => Promise<number | undefined>

async function overCuts({ proxy, send }: Rig): Promise<undefined> {
  proxy.delay(LINK_DELAY_MS)
  const start = performance.now()
  let sent = 0
  let cuts = 0
  while (sent < MESSAGES) {
    await pause(1)
    // A late timer sends what is due.
    for (; sent < MESSAGES && sent < performance.now() - start; sent++) send()
    if (cuts < CUTS && sent >= ((cuts + 1) * MESSAGES) / (CUTS + 1)) {
      cuts++
      proxy.cut()
    }
  }
}

async function intoHalfOpen({ agent, proxy, send }: Rig): Promise<number | undefined> {
  proxy.stall()
  for (let left = HALF_OPEN_MESSAGES; left > 0; left--) send()
  const start = performance.now()
  let noticedAt: number | undefined
  agent.on('closed', () => {
    noticedAt ??= performance.now()
  })
  await until(() => noticedAt !== undefined, NOTICE_LIMIT_MS)
  const seconds = noticedAt === undefined ? undefined : (noticedAt - start) / 1000
  proxy.cut()
  return seconds
}

async function measure(name: string, capabilities: Capability[], scenario: Scenario): Promise<Figure> {
  let url = ''
  const proxy = await startFaultProxy({ target: () => url })
  const limits = { historyLimit: 20_000, recordingLimit: 20_000, resumeBufferLimit: 20_000 }
  const settings = { capabilities, ...limits }
  const reply = ({ text }: { text: string }) => ({ content: `You said: ${text}` })
  const server = await serveEmulator({ origin: proxy.url, offersLogin: false, settings, reply })
  url = server.url
  const agent = new AiAgent(
    {
      id: 'help',
      endpoint: proxy.url,
      enableLogging: false,
      baseReconnectDelay: 100,
      maxReconnectDelay: 500,
      maxQueueSize: 10_000,
    },
    { memory: new MemoryCacheAdapter() },
  )
  const fates = new Map<string, DeliveryState>()
  const contents = new Map<string, string>()
  let sent = 0
  let refused = 0
  agent.on('deliveryUpdate', ({ payload: { id, state } }) => void fates.set(id, state))
  const send = () => {
    const content = `message ${sent++}`
    agent.send(content).then(
      id => {
        contents.set(id, content)
        void agent.delivery(id)?.outcome.then(outcome => {
          if (fates.get(id) !== 'acknowledged') fates.set(id, outcome)
        })
      },
      () => refused++,
    )
  }
  await agent.initialize()
  await agent.connect()
  const noticed = await scenario({ agent, proxy, send })
  proxy.delay(0)
  await until(() => agent.getState() === 'CONNECTED' && agent.getQueueSize() === 0, EVIDENCE_LIMIT_MS)
  const { control, world } = server.emulator
  const listArrived = () =>
    [...world.sessions.keys()].flatMap(id =>
      (control.record(id)?.accepted ?? []).flatMap(({ duplicate, message: { content = '' } }) =>
        !duplicate && content.startsWith('message ') ? content : [],
      ),
    )
  const isProven = () => {
    const arrived = new Set(listArrived())
    return [...contents].every(([id, content]) => fates.get(id) === 'acknowledged' || !arrived.has(content))
  }
  // With receipts, everything settles without a further step.
  const isSettled = () => [...contents.keys()].every(id => SETTLED.has(fates.get(id)))
  if (capabilities.length > 0) await until(isSettled, EVIDENCE_LIMIT_MS)
  // Without receipts, the history of a reopening shows what has arrived.
  await agent.disconnect()
  await agent.connect()
  await until(isProven, EVIDENCE_LIMIT_MS)
  await agent.destroy()
  await pause(50)
  const taken = listArrived()
  const arrived = new Set(taken)
  await proxy.close()
  await server.close()
  const of = (...states: unknown[]) => [...contents].filter(([id]) => states.includes(fates.get(id)))
  const isMissing = ([, content]: [string, string]) => !arrived.has(content)
  return {
    Figure: name,
    'Service announces': capabilities.join(', ') || 'nothing',
    Accepted: contents.size,
    Refused: refused,
    Arrived: arrived.size,
    Twice: taken.length - arrived.size,
    Acknowledged: of('acknowledged').length,
    Unknown: of('unknown').length,
    Failed: of('failed', 'cancelled').length,
    // The goal is 0: neither arrived nor reported.
    'Lost without a word': of('acknowledged', 'queued', 'sending', 'sent', undefined).filter(isMissing).length,
    'Noticed after': noticed === undefined ? '' : `${noticed.toFixed(1)} s`,
  }
}

const pause = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

async function until(holds: () => boolean, limitMs: number): Promise<boolean> {
  const end = performance.now() + limitMs
  while (!holds()) {
    if (performance.now() > end) return false
    await pause(100)
  }
  return true
}
