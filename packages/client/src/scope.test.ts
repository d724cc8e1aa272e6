import { describe, expect, it } from 'vitest'
import { resolveEnvironment } from './platform/default-environment.ts'
import { AgentScope } from './scope.ts'

const CONFIG = { id: 'help', endpoint: 'https://a.test' }

describe('the ids of messages', () => {
  it('creates distinct UUIDs of version 4, also beyond those of one random UUID', () => {
    let asked = 0
    const scope = new AgentScope(CONFIG, resolveEnvironment({ randomUUID: () => (asked++, crypto.randomUUID()) }))
    const ids = Array.from({ length: 70_000 }, () => scope.newId())
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter(id => !/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))).toEqual(
      [],
    )
    expect(asked).toBe(2)
  })

  it('needs no random UUID before the first message', () => {
    let asked = 0
    const scope = new AgentScope(CONFIG, resolveEnvironment({ randomUUID: () => (asked++, crypto.randomUUID()) }))
    expect(asked).toBe(0)
    scope.newId()
    expect(asked).toBe(1)
  })
})
