import { readdir, readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { findRule, LOGIN_RULES, RULES } from './rules.ts'
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

  it('prove every rule that needs no login, on every wire where they need one', () => {
    const unproven = RULES.filter(({ proof }) => proof === 'scenario').flatMap(({ id }) => {
      const own = scenarios.filter(({ rules }) => rules.includes(id))
      const wires = new Set(own.flatMap(scenario => scenario.wires))
      const alone = own.length > 0 && wires.size === 0
      return alone || wires.size === WIRES.length ? [] : [id]
    })
    expect(unproven).toEqual([])
  })

  it('have titles of their own, so that a failure leads to one of them', () => {
    const titles = scenarios.map(({ title, rules }) => `${rules.join()} ${title}`)
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([])
  })

  it('say which rules they prove and which are left to the tests of the login', () => {
    const proven = RULES.filter(({ id }) => provenIds().has(id))
    const rest = RULES.filter(({ id }) => !provenIds().has(id))
    console.info(
      `${proven.length} of ${RULES.length} rules are proven by ${scenarios.length} scenarios: ${listed(proven)}.\n` +
        `Left to the tests of the login: ${listed(rest)}.`,
    )
    expect(rest.map(({ proof }) => proof)).not.toContain('scenario')
  })
})

describe('the rules', () => {
  it('have ids of their own', () => {
    expect(new Set(RULES.map(({ id }) => id)).size).toBe(RULES.length)
  })

  it('exist, where a login is said to prove them, and stand in the title of a test beside the code', async () => {
    const titles = await clientTests()
    expect([...LOGIN_RULES].filter(id => !findRule(id) || !titles.includes(`[${id}]`))).toEqual([])
  })
})

/** The client's own tests, as text. */
async function clientTests(): Promise<string> {
  const folder = new URL('../packages/client/', import.meta.url)
  const names = await Promise.all(
    ['src/', 'test/browser/'].map(part =>
      readdir(new URL(part, folder), { recursive: true }).then(all =>
        all.filter(name => name.endsWith('.test.ts')).map(name => part + name),
      ),
    ),
  )
  const texts = await Promise.all(names.flat().map(name => readFile(new URL(name, folder), 'utf8')))
  return texts.join('\n')
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
