import { readdir, readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { findRule, RULES } from './rules.ts'
import { collectScenarios, type Scenario } from './verifies.ts'
import { WIRES } from './wire.ts'

const FOLDER = new URL('./scenarios/', import.meta.url)

describe('the scenarios', () => {
  let scenarios: Scenario[] = []
  beforeAll(async () => {
    const files = (await readdir(FOLDER)).filter(name => name.endsWith('.test.ts'))
    scenarios = await collectScenarios(() => Promise.all(files.map(name => import(new URL(name, FOLDER).pathname))))
  })
  const provenIds = () => new Set(scenarios.flatMap(({ rules }) => rules))

  it('name only rules that exist', () => {
    expect([...provenIds()].filter(id => !findRule(id))).toEqual([])
  })

  it('prove every rule that needs no login, on every wire if they need a service', () => {
    const unproven = RULES.filter(({ proof }) => proof === 'scenario').flatMap(({ id }) => {
      const own = scenarios.filter(({ rules }) => rules.includes(id))
      const wires = new Set(own.flatMap(scenario => scenario.wires))
      const alone = own.length > 0 && wires.size === 0
      return alone || wires.size === WIRES.length ? [] : [id]
    })
    expect(unproven).toEqual([])
  })

  it('have unique titles', () => {
    const titles = scenarios.map(({ title, rules }) => `${rules.join()} ${title}`)
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([])
  })

  it('list the rules they prove and those proven by other tests', () => {
    const proven = RULES.filter(({ id }) => provenIds().has(id))
    const rest = RULES.filter(({ id }) => !provenIds().has(id))
    console.info(
      `${proven.length} of ${RULES.length} rules are proven by ${scenarios.length} scenarios: ${listed(proven)}.\n` +
        `Proven by other tests: ${listed(rest)}.`,
    )
    expect(rest.map(({ proof }) => proof)).not.toContain('scenario')
  })
})

describe('the rules', () => {
  it('have unique ids', () => {
    expect(new Set(RULES.map(({ id }) => id)).size).toBe(RULES.length)
  })

  it('have their id in a test title, if no scenario proves them', async () => {
    const titles = await testTexts()
    expect(RULES.filter(({ id, proof }) => proof === 'test' && !titles.includes(`[${id}]`))).toEqual([])
  })
})

/** Every test file outside this folder, as text. */
async function testTexts(): Promise<string> {
  const root = new URL('../', import.meta.url)
  const texts = await Promise.all(
    ['packages/', 'scripts/', 'docs/', 'examples/'].map(async part => {
      const names = await readdir(new URL(part, root), { recursive: true })
      const tests = names.filter(name => name.endsWith('.test.ts') && !name.includes('node_modules'))
      return Promise.all(tests.map(name => readFile(new URL(part + name, root), 'utf8')))
    }),
  )
  return texts.flat().join('\n')
}

/** `CFG-01 04 05, FLOW-02`: ids by area. */
function listed(rules: readonly { id: string }[]): string {
  const areas = new Map<string, string[]>()
  for (const { id } of rules) {
    const [area = '', number = ''] = id.split('-')
    areas.set(area, [...(areas.get(area) ?? []), number])
  }
  return [...areas].map(([area, numbers]) => `${area}-${numbers.join(' ')}`).join(', ')
}
