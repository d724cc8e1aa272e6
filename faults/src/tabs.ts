// Ends the leading tab of five in a real browser, again and again: `npm run tabs -- --runs N --seed S`. See docs/tabs.md.
import { parseArgs } from 'node:util'
import { hasChromium } from '@aiagent/test-support/chromium'
import { Random } from './schedule/random.ts'
import { markdownTable, writeTable } from './table.ts'
import { BrowserTabs, ENDS, type TabRunResult } from './tabs/browser-tabs.ts'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    document: { type: 'string' },
    'max-seconds': { type: 'string', default: 'Infinity' },
  },
})
const runs = Number(values.runs)
const seed = Number(values.seed)
const deadline = Date.now() + Number(values['max-seconds']) * 1000
if (!Number.isInteger(runs) || !Number.isInteger(seed)) throw new Error('--runs and --seed take whole numbers.')

if (hasChromium()) process.exitCode = (await play()) ? 0 : 1
else console.log('No Chromium was found, so no tab was opened. Set CHROME_PATH, or install one.')

/** Plays the runs and prints the table. Returns whether no rule was broken. */
async function play(): Promise<boolean> {
  const random = new Random(seed)
  const results: TabRunResult[] = []
  const tabs = await BrowserTabs.launch()
  try {
    for (let run = 1; run <= runs && Date.now() < deadline; run++) {
      const result = await tabs.run(random)
      results.push(result)
      for (const violation of result.violations) console.log(`Run ${run} (${result.end}): ${violation}`)
      if (run % 50 === 0) console.log(`${run} runs`)
    }
  } finally {
    await tabs.close()
  }
  const table = markdownTable(ENDS.map(end => rowOf(end, results)))
  console.log(table)
  if (values.document) writeTable(values.document, 'tabs', table)
  return results.every(({ violations }) => violations.length === 0)
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
