import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { allFields, isJsonObject } from './json-object.ts'
import { parsePortalList } from './rest/portal.ts'
import { jsonObject, openObject } from './schemas/json-object.ts'

describe('objects of the wire', () => {
  const schema = jsonObject({ known: v.optional(v.string()) })

  it.each([
    [{}, true],
    [{ a: 1 }, true],
    [Object.create(null), true],
    [[], false],
    [null, false],
    ['x', false],
    [1, false],
    [undefined, false],
  ])('are objects and nothing else: %j', (value, fits) => {
    expect(isJsonObject(value)).toBe(fits)
    expect(v.is(schema, value)).toBe(fits)
    expect(v.is(openObject, value)).toBe(fits)
  })

  it('let unknown members pass, and drop the names that could become a prototype', () => {
    const value: unknown = JSON.parse('{"known":"a","further":[1],"__proto__":{"x":1},"constructor":1,"prototype":2}')
    expect(v.parse(schema, value)).toStrictEqual({ known: 'a', further: [1] })
    expect(v.parse(openObject, value)).toStrictEqual({ known: 'a', further: [1] })
  })

  it('show the fields that their type does not name', () => {
    const portals = parsePortalList({ portal: [{ id: 1, openingHours: '9 to 5' }] }).portal ?? []
    expect(portals.map(portal => allFields(portal)['openingHours'])).toEqual(['9 to 5'])
  })
})
