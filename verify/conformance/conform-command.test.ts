import { describe, expect, it } from 'vitest'
import { EMULATOR_RULES } from '../../packages/cli/src/conform/rules.ts'
import { SCENARIOS } from '../../packages/cli/src/conform/scenarios.ts'
import { RULES } from './rules.ts'

describe('the rules of `aiagent conform`', () => {
  const asked = new Set(SCENARIOS.flatMap(({ rules }) => rules))

  it('[ADOPT-05] are rules of the project', () => {
    const known = new Set(RULES.map(({ id }) => id))
    expect([...asked, ...EMULATOR_RULES.keys()].filter(id => !known.has(id))).toEqual([])
  })

  it('[ADOPT-05] are each either asked or named as needing the emulator', () => {
    const ofScenarios = RULES.filter(({ proof }) => proof === 'scenario').map(({ id }) => id)
    expect(ofScenarios.filter(id => asked.has(id) === EMULATOR_RULES.has(id))).toEqual([])
  })
})
