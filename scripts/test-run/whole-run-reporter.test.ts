import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ownTool, run } from '../tools.ts'

const FIXTURE = fileURLToPath(new URL('./fixture/', import.meta.url))

describe('the report and the closing lines of a test run', () => {
  let folder: string
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'aiagent-report-'))))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  async function runFixture(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
    const report = join(folder, 'report.json')
    const { code, output } = await run(
      ownTool('vitest'),
      ['run', '--config', join(FIXTURE, 'vitest.config.ts'), '--root', FIXTURE, ...args],
      { capture: true, env: { REPORT: report, REQUIRE_ALL_TESTS: '', ...env } },
    )
    return { code, output, report: existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined }
  }

  it('[REL-30] [REL-33] is written by a run of all tests, which names skipped ones', async () => {
    const { code, report, output } = await runFixture()
    expect(code, output).toBe(0)
    expect(report).toMatchObject({ numTotalTests: 6, numPassedTests: 4 })
    expect(output).toMatch(/^4 passed, 0 failed, 2 skipped$/m)
    expect(output).toContain('Skipped, because the planet has no moon: "a moon > rises", "a moon > sets".')
  })

  it.each([
    ['a file', ['first.fixture.ts'], '3 passed, 0 failed'],
    ['a title', ['-t', 'adds'], '1 passed, 0 failed, 5 skipped'],
    ['a project', ['--project', 'pages'], '1 passed, 0 failed'],
  ])('[REL-30] is not written by a run that %s narrows', async (_what, args, closingLine) => {
    const { report, output } = await runFixture(args)
    expect(output.split('\n')).toContain(closingLine)
    expect(report).toBeUndefined()
  })

  it('[REL-34] names the seed of property tests, and the command that repeats a failed one', async () => {
    const { output } = await runFixture(['first'], { PROPERTY_SEED: '42', FAIL: '1' })
    expect(output).toContain('Seed of the property tests: 42.')
    expect(output).toContain(
      'To repeat the failed property: ' +
        'PROPERTY_SEED=42 npx vitest run first.fixture.ts -t "starts properties from the seed of the run"',
    )
  })

  it.each([
    ['passes then', '', '1 failed'],
    ['passes then, where failed ones are repeated', '1', '0 failed'],
  ])('[REL-34] tells a test that fails first, and %s', async (_what, REPEAT_FAILED_TESTS, counted) => {
    const { output } = await runFixture(['first'], { FAIL_ONCE: '1', REPEAT_FAILED_TESTS })
    expect(output).toContain(counted)
    const line =
      'UNSTABLE, it passed at the second try: "passes, if not at the first try" in first.fixture.ts. expected true'
    expect(output.includes(line)).toBe(counted === '0 failed')
  })

  it('[REL-30] [REL-33] is written without the tests of pages, as `npm test` runs; skipped tests count as failed where all are required', async () => {
    const { code, report, output } = await runFixture(['--project=!pages'], { REQUIRE_ALL_TESTS: '1' })
    expect(code).toBe(1)
    expect(report).toMatchObject({ numTotalTests: 5 })
    expect(output).toMatch(/^3 passed, 2 failed, 2 skipped$/m)
  })
})
