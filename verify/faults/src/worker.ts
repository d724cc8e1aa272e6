// Plays runs in a separate process: receives a job, and reports each result. Started by run.ts, as a bundle.
import { finish, parameters, tell } from '@aiagent/test-support/program'
import { playAlone, playProxied } from './campaign.ts'
import type { Job, Report, Transport } from './messages.ts'
import { createSchedule } from './schedule/create-schedule.ts'
import { shrink } from './schedule/shrink.ts'
import type { Schedule } from './schedule/step.ts'
import { createTabSchedule, type TabSchedule } from './tabs/shared-tabs.ts'

/** Failing runs of a job that are shortened. The others are reported as they are. */
const MOST_SHORTENED = 3

const report = (message: Report) => void tell(message)

await work(await parameters<Job>())
// The proxy may keep the handle of a socket that it has reset.
await finish({ kind: 'done' } satisfies Report)

async function work(job: Job): Promise<void> {
  const onStart = (seed: number) => report({ kind: 'started', seed })
  const isOver = () => Date.now() > job.deadline
  if (job.transport === 'proxied' && job.steps === undefined) {
    const violations = await playProxied(job.seeds, isOver, onStart, result => report({ kind: 'result', result }))
    if (violations.length > 0) report({ kind: 'unassigned', violations })
    return
  }
  let shortened = 0
  for (const seed of job.seeds) {
    if (isOver()) return
    const schedule = withSteps(scheduleOf(seed, job.transport), job.steps)
    onStart(seed)
    const result = await playAlone(schedule)
    report({ kind: 'result', result })
    if (result.violations.length === 0) continue
    if (job.shrinks && shortened++ < MOST_SHORTENED) await shorten(schedule, job)
    if (result.violations.some(({ kind }) => job.untilFailure?.includes(kind))) return
  }
}

/** Shortens a failing run to steps that still show one of its violations. */
async function shorten(schedule: Schedule | TabSchedule, job: Job): Promise<void> {
  const kinds = new Set((await playAlone(schedule)).violations.map(({ kind }) => kind))
  const all = job.steps ?? schedule.steps.map((_, index) => index)
  const full = scheduleOf(schedule.seed, schedule.transport)
  const steps = await shrink(all, async candidate => {
    const { violations } = await playAlone(withSteps(full, candidate))
    return violations.some(({ kind }) => kinds.has(kind))
  })
  const short = withSteps(full, steps)
  report({ kind: 'shortened', seed: schedule.seed, steps, text: describe(short) })
}

function scheduleOf(seed: number, transport: Transport): Schedule | TabSchedule {
  return transport === 'tabs' ? createTabSchedule(seed) : createSchedule(seed, transport)
}

function withSteps<T extends Schedule | TabSchedule>(schedule: T, steps: readonly number[] | undefined): T {
  return steps ? { ...schedule, steps: steps.flatMap(index => schedule.steps[index] ?? []) } : schedule
}

function describe({ setup, steps }: Schedule | TabSchedule): string {
  return [JSON.stringify(setup), ...steps.map(step => `  ${JSON.stringify(step)}`)].join('\n')
}
