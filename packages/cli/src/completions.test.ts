import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { completionScript } from './completions.ts'
import type { CommandSpec } from './option-parts.ts'
import { COMMANDS } from './option-specs.ts'

const COMMAND_LIST: readonly (readonly [string, CommandSpec])[] = Object.entries(COMMANDS)

const folder = mkdtempSync(join(tmpdir(), 'aiagent-completions-'))
writeFileSync(join(folder, 'talk one.md'), '')
afterAll(() => rmSync(folder, { recursive: true }))

const hasShell = (name: string) =>
  (process.env['PATH'] ?? '').split(delimiter).some(path => path && existsSync(join(path, name)))

/** What bash offers for the last of the given words. */
function inBash(...words: readonly string[]): string[] {
  const script = `${completionScript('bash')}
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); compopt() { :; }
_aiagent
printf '%s\\n' "\${COMPREPLY[@]}"`
  const output = execFileSync('bash', ['--norc', '-c', script, 'bash', 'aiagent', ...words], { cwd: folder })
  return output.toString().split('\n').filter(Boolean)
}

describe.skipIf(!hasShell('bash'))('the completions of bash', () => {
  it('offer every command', () => {
    expect(inBash('')).toEqual([...Object.keys(COMMANDS), 'help', '--help', '--version'])
    expect(inBash('do')).toEqual(['doctor'])
    expect(inBash('help', 'to')).toEqual(['token'])
  })

  it.each(COMMAND_LIST)('offer every option of %s, and nothing for a value without known ones', (name, spec) => {
    expect(inBash(name, '--')).toEqual(Object.keys(spec.options).map(option => `--${option}`))
    const free = Object.entries(spec.options).find(([, { value }]) => value === '<url>')
    if (free) expect(inBash(name, `--${free[0]}`, '')).toEqual([])
  })

  it('offer known values, files and words', () => {
    expect(inBash('chat', '--log-level', 'de')).toEqual(['debug'])
    expect(inBash('chat', '--connector', 'ta')).toEqual(['talk one.md'])
    expect(inBash('test', 'ta')).toEqual(['talk one.md'])
    expect(inBash('completions', '')).toEqual(['bash', 'zsh', '--help'])
  })
})

describe('the completions of zsh', () => {
  it('name every command and every option with its help', () => {
    const script = completionScript('zsh')
    for (const [name, { summary, options }] of COMMAND_LIST) {
      expect(script).toContain(`'${name}:${summary}'`)
      for (const option of Object.keys(options)) expect(script).toMatch(new RegExp(`'\\*?--${option}\\[`))
    }
  })

  it.skipIf(!hasShell('zsh'))('are a valid script that defines its function', () => {
    const script = `compdef() { print -- "$1 $2" }\n${completionScript('zsh')}\nwhence -w _aiagent`
    const output = execFileSync('zsh', ['-f', '-c', script]).toString()
    expect(output).toBe('_aiagent aiagent\n_aiagent: function\n')
  })
})
