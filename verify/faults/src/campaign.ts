import { ProcessWatch } from './checks/process-watch.ts'
import type { RunResult, Violation } from './checks/violation.ts'
import { play } from './play.ts'
import { createSchedule } from './schedule/create-schedule.ts'
import type { Schedule } from './schedule/step.ts'
import { playTabs, type TabSchedule } from './tabs/shared-tabs.ts'

/** How many proxied runs go on at the same time in a process: most of their time is waiting. */
const PARALLEL_RUNS = 12

/** Plays a schedule on its own, so that an unhandled error belongs to it. */
export async function playAlone(schedule: Schedule | TabSchedule): Promise<RunResult> {
  const watch = new ProcessWatch()
  let result: RunResult
  try {
    result = await (schedule.transport === 'tabs' ? playTabs(schedule) : play(schedule))
  } catch (error) {
    result = { seed: schedule.seed, violations: [broken(error)], counts: NOTHING }
  }
  const left = await watch.stop()
  return { ...result, violations: [...result.violations, ...left] }
}

/**
 * Plays the runs of seeds through the proxy, several at a time. An unhandled error cannot be assigned to a run; it is
 * returned.
 */
export async function playProxied(
  seeds: readonly number[],
  isOver: () => boolean,
  onStart: (seed: number) => void,
  onResult: (result: RunResult) => void,
): Promise<Violation[]> {
  const watch = new ProcessWatch()
  const waiting = [...seeds]
  const work = async () => {
    for (let seed = waiting.shift(); seed !== undefined && !isOver(); seed = waiting.shift()) {
      onStart(seed)
      const playing = play(createSchedule(seed, 'proxied'))
      const run = seed
      onResult(await playing.catch(error => ({ seed: run, violations: [broken(error)], counts: NOTHING })))
    }
  }
  await Promise.all(Array.from({ length: Math.min(PARALLEL_RUNS, seeds.length) }, work))
  return watch.stop()
}

const NOTHING = { messages: 0, arrived: 0, acknowledged: 0, failed: 0, unknown: 0, recovered: 0 }

const broken = (error: unknown): Violation => ({
  kind: 'unhandled',
  text: `the run broke: ${error instanceof Error ? error.stack : String(error)}`,
})
