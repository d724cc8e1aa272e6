import type { Page } from 'playwright-core'

/** Processor times of what a page did, in milliseconds. A busy machine changes them little. */
export interface TaskTimes {
  /** That of the longest task. */
  readonly longest: number
  /** Those of the calls of a function that the browser made, by its name. */
  calls(name: string): number[]
}

/** An event of a trace; times in microseconds. */
interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Processor time. */
  readonly tdur?: number
  readonly args: { readonly name?: string; readonly data?: { readonly functionName?: string } }
}

/**
 * Records the processor times of tasks of a page, from now on.
 *
 * @returns ends the recording
 */
export async function recordTasks(page: Page): Promise<() => Promise<TaskTimes>> {
  const devTools = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  // The protocol has no type for them.
  devTools.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  const categories = ['devtools.timeline', 'disabled-by-default-devtools.timeline']
  await devTools.send('Tracing.start', {
    traceConfig: { includedCategories: categories, recordMode: 'recordContinuously' },
  })
  return async () => {
    const completed = new Promise(resolve => devTools.once('Tracing.tracingComplete', resolve))
    await devTools.send('Tracing.end')
    await completed
    await devTools.detach()
    const isNamed = ({ name, args }: TraceEvent) => name === 'thread_name' && args.name === 'CrRendererMain'
    const threads = new Set(events.filter(isNamed).map(({ pid, tid }) => `${pid} ${tid}`))
    const timesOf = (isWanted: (event: TraceEvent) => boolean) =>
      events.flatMap(event =>
        threads.has(`${event.pid} ${event.tid}`) && event.tdur !== undefined && isWanted(event)
          ? event.tdur / 1000
          : [],
      )
    return {
      longest: Math.max(...timesOf(({ name }) => name === 'RunTask')),
      calls: name => timesOf(event => event.name === 'FunctionCall' && event.args.data?.functionName === name),
    }
  }
}

/** Processor time of a known work on the machine for which limits are meant, one with two cores, in milliseconds. */
const REFERENCE_MS = 3.5

/** How many times as much processor time a known work takes as on the machine for which limits are meant; at least 1. */
export async function slownessOf(page: Page): Promise<number> {
  const stop = await recordTasks(page)
  await page.evaluate(async () => {
    for (let turn = 0; turn < 20; turn++) {
      await new Promise<void>(resolve => {
        setTimeout(function doKnownWork() {
          let text = ''
          for (let index = 0; index < 20_000; index++) text += `*${index}* `
          const words = text.match(/\*\d+\*/g)?.map(word => ({ word, length: word.length })) ?? []
          Object.assign(globalThis, { knownWork: JSON.stringify(words).length })
          resolve()
        })
      })
    }
  })
  const times = (await stop()).calls('doKnownWork').sort((one, other) => one - other)
  return Math.max(1, (times[times.length >> 1] ?? Number.NaN) / REFERENCE_MS)
}
