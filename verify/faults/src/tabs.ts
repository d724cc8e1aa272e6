// Ends the leading tab of five in a real browser, again and again: `npm run tabs -- --runs N --seed S`. See docs/tabs.md.
import { hasChromium } from '@aiagent/test-support/chromium'
import { readCommandLine, wholeNumber } from '../../../scripts/command-line.ts'
import { Random } from './schedule/random.ts'
import { markdownTable, writeTable } from './table.ts'
import { BrowserTabs, ENDS, type TabRunResult } from './tabs/browser-tabs.ts'

/** Runs in one browser. A new one has short transcripts, so that the last run is as quick as the first. */
const RUNS_PER_BROWSER = 25

/** How often a run is repeated whose browser has failed. */
const REPETITIONS = 2

/** Runs in which the messages arrived later are named, in milliseconds. */
const SLOW_MS = 8_000

const { runs, seed, first, browsers, seconds, document } = readCommandLine(
  {
    name: 'tabs',
    about: 'Ends the leading tab of five in a real browser, again and again. See docs/tabs.md.',
    options: {
      runs: { type: 'string', default: '20', help: 'how often the leading tab is ended' },
      seed: { type: 'string', default: '1', help: 'seed of the runs' },
      first: { type: 'string', default: '1', help: 'number of the first run' },
      browsers: { type: 'string', default: '1', help: 'browsers at once' },
      document: { type: 'string', value: 'FILE', help: 'writes the table into this document' },
      'max-seconds': { type: 'string', help: 'starts no further run after this time' },
    },
  },
  ({ values }) => {
    const limit = values['max-seconds']
    return {
      runs: wholeNumber('runs', values.runs),
      seed: wholeNumber('seed', values.seed),
      first: wholeNumber('first', values.first),
      browsers: wholeNumber('browsers', values.browsers, 1),
      seconds: limit === undefined ? Number.POSITIVE_INFINITY : wholeNumber('max-seconds', limit),
      document: values.document,
    }
  },
)
const startedAt = performance.now()
const deadline = Date.now() + seconds * 1000

if (hasChromium()) process.exitCode = (await play()) ? 0 : 1
else console.log('No Chromium was found, so no tab was opened. Set CHROME_PATH, or install one.')

/** Plays the runs and prints the table. Returns whether each run was played and no rule was broken. */
async function play(): Promise<boolean> {
  const results: TabRunResult[] = []
  let next = first
  let isFailed = false
  const playBatches = async () => {
    while (next < first + runs && Date.now() < deadline) {
      const from = next
      next = Math.min(first + runs, from + RUNS_PER_BROWSER)
      isFailed = !(await playBatch(from, next, results)) || isFailed
      const seconds = (performance.now() - startedAt) / 1_000
      console.log(`${results.length} runs in ${Math.round(seconds)} s, ${(seconds / results.length).toFixed(2)} s each`)
    }
  }
  await Promise.all(Array.from({ length: browsers }, playBatches))
  const table = markdownTable(ENDS.map(end => rowOf(end, results)))
  console.log(table)
  if (document) writeTable(document, 'tabs', table)
  return !isFailed && results.every(({ violations }) => violations.length === 0)
}

/** Plays runs in one browser, and in another one after a failure of the browser. Returns false when a run was not possible. */
async function playBatch(from: number, to: number, results: TabRunResult[]): Promise<boolean> {
  let failures = 0
  for (let run = from; run < to && Date.now() < deadline; ) {
    let tabs: BrowserTabs | undefined
    try {
      tabs = await BrowserTabs.launch()
      for (; run < to && Date.now() < deadline; run++) {
        // Each run has a separate seed, so that it can be repeated alone: `--first RUN --runs 1`.
        const result = await tabs.run(new Random(seed * 1_000_003 + run))
        failures = 0
        results.push(result)
        for (const violation of result.violations) console.log(`Run ${run} (${result.end}): ${violation}`)
        if (result.arrivedMs > SLOW_MS)
          console.log(`Run ${run} (${result.end}) took ${Math.round(result.arrivedMs)} ms.`)
        if (!result.isOver) continue
        run++
        break
      }
    } catch (error) {
      console.log(`Run ${run} was not possible: ${error instanceof Error ? error.message : error}`)
      if (++failures > REPETITIONS) return false
    } finally {
      await tabs?.close().catch(() => {})
    }
  }
  return true
}

function rowOf(end: string, results: readonly TabRunResult[]): Record<string, string | number> {
  const own = results.filter(result => result.end === end)
  const times = own.map(({ arrivedMs }) => Math.round(arrivedMs)).sort((one, other) => one - other)
  const count = (part: string) => own.flatMap(({ violations }) => violations).filter(text => text.includes(part)).length
  return {
    'End of the leader': end,
    Runs: own.length,
    Messages: own.reduce((sum, { messages }) => sum + messages, 0),
    Lost: count('was lost'),
    'Accepted twice': count(' times'),
    'Two sockets at once': count('from socket'),
    Other:
      own.flatMap(({ violations }) => violations).length - count('was lost') - count(' times') - count('from socket'),
    'All arrived, median (ms)': times[Math.floor(times.length / 2)] ?? 0,
    'Longest (ms)': times.at(-1) ?? 0,
  }
}
