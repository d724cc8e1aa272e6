import { describe, expect, it } from 'vitest'
import { LanguageChoice } from './language.ts'

function setUp() {
  const choice = new LanguageChoice()
  const set: (string | null | undefined)[] = []
  const attach = () => choice.attach(code => void set.push(code))
  return { choice, attach, now: () => set.at(-1), set }
}

describe('LanguageChoice', () => {
  it("returns the agent's own if the host chose none", () => {
    const { choice, attach, now } = setUp()
    attach()
    expect(now()).toBeUndefined()
    choice.learn('de-de')
    expect([now(), choice.chosen]).toEqual(['de-de', undefined])
  })

  it("prefers the host's choice, whenever it was made", () => {
    const { choice, attach, now } = setUp()
    choice.choose(' fr-CA ')
    attach()
    expect(now()).toBe('fr-CA')
    choice.learn('de-de')
    expect(now()).toBe('fr-CA')
    choice.choose('it-IT')
    expect([now(), choice.chosen]).toEqual(['it-IT', 'it-IT'])
  })

  it.each(['', '  ', null, undefined])("returns the agent's own again for %j", code => {
    const { choice, attach, now } = setUp()
    attach()
    choice.learn('de-de')
    choice.choose('fr-CA')
    choice.choose(code)
    expect([now(), choice.chosen]).toEqual(['de-de', undefined])
  })

  it('works before there is a helper', () => {
    const { choice, set } = setUp()
    choice.choose('fr-CA')
    choice.learn('de-de')
    expect(set).toEqual([])
  })
})
