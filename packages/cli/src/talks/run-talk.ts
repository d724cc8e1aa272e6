import { type Exchange, judge } from './judge.ts'
import { type Expectation, millisecondsOf, type Talk } from './parse-talk.ts'
import type { Partner } from './partner.ts'

/** An expectation that does not hold. */
export interface TalkFailure {
  readonly line: number
  readonly text: string
}

/** The result of one run of a talk. */
export interface TalkResult {
  readonly file: string
  readonly title: string
  readonly outcome: 'passed' | 'failed'
  readonly failures: readonly TalkFailure[]
  /** Expectations that a recording does not show. */
  readonly notJudged: number
  readonly ms: number
  /** What happened in each turn, for `--bless`. */
  readonly exchanges: readonly Exchange[]
}

/** Holds a talk with a partner. @param limitMs time limit of an answer, unless a turn has its own */
export async function runTalk(talk: Talk, open: () => Promise<Partner>, limitMs: number): Promise<TalkResult> {
  const { file, title, always, turns } = talk
  const start = performance.now()
  const failures: TalkFailure[] = []
  const exchanges: Exchange[] = []
  let notJudged = 0
  const partner = await open()
  try {
    for (const { user, line, expectations } of turns) {
      const all = [...expectations, ...always]
      const exchange = await partner.say(user, limitOf(all) ?? limitMs)
      exchanges.push(exchange)
      for (const text of exchange.problems) failures.push({ line, text })
      if (all.length === 0 && exchange.messages.length === 0) failures.push({ line, text: 'The agent said nothing.' })
      for (const expectation of all) {
        const problem = judge(expectation, exchange)
        if (problem === null) notJudged++
        else if (problem !== undefined) failures.push({ line: expectation.line, text: problem })
      }
    }
  } finally {
    await partner.close()
  }
  const outcome = failures.length === 0 ? 'passed' : 'failed'
  return { file, title, outcome, failures, notJudged, ms: Math.round(performance.now() - start), exchanges }
}

/** An answer that is late is waited for a little longer, so that its time can be told. */
function limitOf(expectations: readonly Expectation[]): number | undefined {
  const limits = expectations.flatMap(({ kind, value }) => (kind === 'within' ? (millisecondsOf(value) ?? []) : []))
  return limits.length === 0 ? undefined : Math.min(...limits) * 2 + 500
}

/**
 * Runs tasks, several at once, and returns their results in order.
 *
 * @param signal ends it before the next task, with the signal's reason
 */
export async function inParallel<T>(
  tasks: readonly (() => Promise<T>)[],
  jobs: number,
  signal: AbortSignal,
): Promise<T[]> {
  const results: T[] = []
  let next = 0
  const work = async () => {
    for (let index = next++; index < tasks.length; index = next++) {
      signal.throwIfAborted()
      const task = tasks[index]
      if (task) results[index] = await task()
    }
  }
  await Promise.all(Array.from({ length: Math.min(jobs, tasks.length) }, work))
  return results
}
