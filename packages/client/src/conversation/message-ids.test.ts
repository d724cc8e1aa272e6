import { describe, expect, it } from 'vitest'
import { createMessageIds } from './message-ids.ts'

describe('createMessageIds', () => {
  it('gives UUIDs of version 4, no two alike, also beyond those that one random UUID is good for', () => {
    let asked = 0
    const newId = createMessageIds(() => {
      asked++
      return crypto.randomUUID()
    })
    const ids = Array.from({ length: 70_000 }, newId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter(id => !/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))).toEqual(
      [],
    )
    expect(asked).toBe(2)
  })

  it('asks for nothing before the first message', () => {
    createMessageIds(() => {
      throw new Error('asked')
    })
  })
})
