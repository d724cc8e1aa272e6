import { describe, expect, it } from 'vitest'
import type { Rule } from '../../verify/conformance/rules.ts'
import { judgeRules, listIds, type RanTest } from './rule-coverage.ts'

const rule = (id: string, proof: Rule['proof']): Rule => ({ id, text: '', proof })
const test = (title: string, more: Partial<RanTest> = {}): RanTest => ({
  title,
  project: 'conformance',
  state: 'passed',
  fails: false,
  ...more,
})

describe('[REL-35] a rule', () => {
  it.each([
    ['proven', 'by a passed test anywhere', [test('[X-01] works', { project: 'unit' })], 'test'],
    [
      'proven',
      'by one passed test beside skipped ones',
      [test('[X-01] a'), test('[X-01] b', { state: 'skipped' })],
      'test',
    ],
    ['proven', 'by a scenario', [test('[Y-01] [X-01] a')], 'scenario'],
    ['unproven', 'without a test', [test('says X-01 only')], 'test'],
    ['unproven', 'by a failed test', [test('[X-01] a', { state: 'failed' })], 'test'],
    ['unproven', 'by a test that never ended', [test('[X-01] a', { state: 'pending' })], 'test'],
    ['unproven', 'by a unit test where a scenario is required', [test('[X-01] a', { project: 'unit' })], 'scenario'],
    ['proven', 'by a test of a whole page', [test('[X-01] a', { project: 'pages' })], 'page'],
    ['unproven', 'by a unit test where one of a page is required', [test('[X-01] a', { project: 'unit' })], 'page'],
    ['skipped', 'where its tests were skipped', [test('[X-01] a', { state: 'skipped' })], 'test'],
    ['expectedFailures', 'where its only test is expected to fail', [test('[X-01] a', { fails: true })], 'test'],
  ] as const)('is %s %s', (verdict, _how, tests, proof) => {
    const coverage = judgeRules([rule('X-01', proof), rule('Y-01', 'test')], tests)
    expect(coverage[verdict]).toContain('X-01')
    const verdicts = [coverage.proven, coverage.skipped, coverage.expectedFailures, coverage.unproven].flat()
    expect(verdicts.toSorted()).toEqual(['X-01', 'Y-01'])
  })

  it('must exist where a title names it', () => {
    expect(judgeRules([rule('X-01', 'test')], [test('[X-01] [X-02] a')]).unknown).toEqual(['X-02'])
  })

  it('is known although the run cannot prove it', () => {
    const [page, other] = [rule('X-01', 'page'), rule('Y-01', 'test')]
    const { proven, unproven, unknown } = judgeRules([page, other], [test('[X-01] [Y-01] a')], [other])
    expect({ proven, unproven, unknown }).toEqual({ proven: ['Y-01'], unproven: [], unknown: [] })
  })

  it('is listed by area', () => expect(listIds(['A-02', 'B-01', 'A-01'])).toBe('A-01 02, B-01'))
})
