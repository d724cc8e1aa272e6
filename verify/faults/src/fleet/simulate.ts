import type { Costs } from './measure.ts'

/** What the fleet is assumed to carry. */
export interface Load {
  /** Messages of the user per conversation and minute. Each has one answer. */
  readonly perMinute: number
  /** Share of a processor or of Redis that is used at most. */
  readonly utilization: number
  /** Sockets of one process: the usual range of local ports for one address of the service. */
  readonly socketsPerProcess: number
  /** Memory of one process, in megabytes. */
  readonly megabytesPerProcess: number
}

const LOAD: Load = { perMinute: 0.5, utilization: 0.6, socketsPerProcess: 28_000, megabytesPerProcess: 1_500 }

/** What a number of conversations needs. */
export interface Needs {
  readonly conversations: number
  readonly messagesPerSecond: number
  /** Processes, by what would be used up with fewer. */
  readonly processes: { readonly cpu: number; readonly memory: number; readonly sockets: number }
  /** Redis servers, each with one core. */
  readonly redis: number
  readonly redisCommandsPerSecond: number
  /** What is used up first. */
  readonly first: 'cpu' | 'memory' | 'sockets'
}

/** What a number of conversations needs, from the measured costs. A worker process has one core. */
export function simulate(conversations: number, costs: Costs, load: Load = LOAD): Needs {
  const messagesPerSecond = (conversations * load.perMinute) / 60
  const cpuUs =
    conversations * costs.idleMicrosecondsPerConversation + messagesPerSecond * costs.workerMicrosecondsPerMessage
  const processes = {
    cpu: Math.max(1, Math.ceil(cpuUs / (load.utilization * 1_000_000))),
    memory: Math.max(
      1,
      Math.ceil((conversations * costs.kilobytesPerConversation) / (load.megabytesPerProcess * 1_000)),
    ),
    sockets: Math.max(1, Math.ceil(conversations / load.socketsPerProcess)),
  }
  const names = ['cpu', 'memory', 'sockets'] as const
  const first = names.reduce((most, name) => (processes[name] > processes[most] ? name : most))
  return {
    conversations,
    messagesPerSecond: Math.round(messagesPerSecond),
    processes,
    redis: Math.max(
      1,
      Math.ceil((messagesPerSecond * costs.redisMicrosecondsPerMessage) / (load.utilization * 1_000_000)),
    ),
    redisCommandsPerSecond: Math.round(messagesPerSecond * costs.redisCommandsPerMessage),
    first,
  }
}

const WIDTH = 720
const HEIGHT = 380
const LEFT = 64
const TOP = 24
const BOTTOM = 330
const RIGHT = 560

/** A picture of the needs over the number of conversations, both logarithmic. */
export function drawNeeds(needs: readonly Needs[]): string {
  const x = (conversations: number) => LEFT + ((Math.log10(conversations) - 3) / 3) * (RIGHT - LEFT)
  const y = (count: number) => BOTTOM - (Math.log10(count) / 3) * (BOTTOM - TOP)
  const series = [
    { name: 'processes, by memory', color: '#7b3fa0', of: (need: Needs) => need.processes.memory },
    { name: 'processes, by CPU', color: '#c2410c', of: (need: Needs) => need.processes.cpu },
    { name: 'processes, by sockets', color: '#0f766e', of: (need: Needs) => need.processes.sockets },
    { name: 'Redis servers', color: '#1d4ed8', of: (need: Needs) => need.redis },
  ]
  const grid = [1, 10, 100, 1_000].map(
    count =>
      `<line x1="${LEFT}" y1="${y(count)}" x2="${RIGHT}" y2="${y(count)}" stroke="#d4d4d8"/>` +
      `<text x="${LEFT - 8}" y="${y(count) + 4}" text-anchor="end">${count}</text>`,
  )
  const ticks = [1_000, 10_000, 100_000, 1_000_000].map(
    count => `<text x="${x(count)}" y="${BOTTOM + 20}" text-anchor="middle">${count.toLocaleString('en')}</text>`,
  )
  const lines = series.map(({ name, color, of }, index) => {
    const points = needs.map(need => `${x(need.conversations).toFixed(1)},${y(of(need)).toFixed(1)}`).join(' ')
    const last = needs.at(-1)
    const label = `${name}: ${last ? of(last) : 0}`
    return (
      `<polyline points="${points}" fill="none" stroke="${color}" stroke-width="2.5"/>` +
      `<line x1="${RIGHT + 14}" y1="${60 + index * 24}" x2="${RIGHT + 30}" y2="${60 + index * 24}" stroke="${color}" stroke-width="3"/>` +
      `<text x="${RIGHT + 36}" y="${64 + index * 24}" font-size="11">${label}</text>`
    )
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="#27272a">
<title>What a number of conversations needs</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${[...grid, ...ticks, ...lines].join('\n')}
<text x="${RIGHT + 14}" y="40" font-size="11">at 1,000,000:</text>
<text x="${(LEFT + RIGHT) / 2}" y="${BOTTOM + 42}" text-anchor="middle">conversations</text>
</svg>
`
}
