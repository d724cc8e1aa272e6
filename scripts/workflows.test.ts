import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './tools.ts'
import { problemsOf, workflowProblems } from './workflows.ts'

const PUBLISH = readFileSync(join(ROOT, '.github/workflows/publish.yml'), 'utf8')

describe('the workflows of the hosted CI', () => {
  it('[SEC-93] name each action by its commit, and run nothing but the publishing where that is allowed', () => {
    expect(workflowProblems(ROOT)).toEqual([])
    const [, publishing = ''] = PUBLISH.split('  publish:\n')
    expect(PUBLISH.match(/id-token: write/g)).toHaveLength(1)
    expect(publishing).toContain('id-token: write')
    expect(publishing).not.toContain('actions/checkout')
  })

  it.each([
    ['a tag', 'actions/checkout@93cb6efe18208431cddfb8368fd83d5badbf9bfd # v5.0.1', 'actions/checkout@v5'],
    ['a branch', 'actions/checkout@93cb6efe18208431cddfb8368fd83d5badbf9bfd # v5.0.1', 'actions/checkout@main'],
    ['a cut hash', '93cb6efe18208431cddfb8368fd83d5badbf9bfd', '93cb6ef'],
    ['no version', 'bfd # v5.0.1', 'bfd'],
    ['an image by its tag', 'actions/checkout@93cb6efe18208431cddfb8368fd83d5badbf9bfd # v5.0.1', 'docker://node:24'],
  ])('[SEC-93] are refused with an action by %s', (_what, from, to) => {
    expect(PUBLISH).toContain(from)
    const line = PUBLISH.slice(0, PUBLISH.indexOf(from)).split('\n').length
    expect(problemsOf(PUBLISH.replace(from, to))).toEqual([expect.stringMatching(`^${line}: name the commit`)])
  })

  it.each([
    ['a step', '      - name: Publish in', '      - run: npm ci\n      - name: Publish in'],
    ['a line of its step', '            npm publish', '            npm run pack\n            npm publish'],
    ['a second command', '-*.tgz\n          done', '-*.tgz; npm ci\n          done'],
    ['the scripts of a package', 'npm publish --ignore-scripts', 'npm publish'],
    ['a right of all jobs', '  contents: read\n\njobs', '  contents: read\n  id-token: write\n\njobs'],
  ])('[SEC-93] are refused where a job that may publish has %s', (_what, from, to) => {
    expect(PUBLISH).toContain(from)
    expect(problemsOf(PUBLISH.replace(from, to))).toContainEqual(expect.stringContaining('a job that may publish'))
  })
})
