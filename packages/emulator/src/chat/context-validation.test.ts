import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { validateContext } from './context-validation.ts'

const rules = { valueLimit: 10 }

describe('context validation', () => {
  it.each([
    ['string', 'x'],
    ['integer', 3],
    ['number', 3.5],
    ['number', 3],
    ['boolean', false],
    ['object', { a: 1 }],
  ])('accepts a value that matches its type: %s', (type, value) => {
    const context = { one: { type, value, description: 'An attribute', notInLLM: true } }
    expect(validateContext(context, rules)).toEqual({ accepted: context, issues: [] })
  })

  it.each([
    ['integer', '3', 'integer', 'string'],
    ['integer', 3.5, 'integer', 'number'],
    ['string', 3, 'string', 'integer'],
    ['object', [], 'object', 'array'],
    ['object', null, 'object', 'null'],
    ['date', '2026-01-01', 'date', 'string'],
    ['toString', 'x', 'toString', 'string'],
    [7, 'x', 'integer', 'string'],
  ])('drops a value that does not match its type: %s, %j', (type, value, expectedType, providedType) => {
    expect(validateContext({ one: { type, value }, two: 2 }, rules)).toEqual({
      accepted: { two: 2 },
      issues: [{ name: 'one', reason: 'type_mismatch', expectedType, providedType }],
    })
  })

  it('accepts plain values, and objects without a `value`', () => {
    const context = { a: 'x', b: 1, c: null, d: [1], e: { x: 1 } }
    expect(validateContext(context, rules)).toEqual({ accepted: context, issues: [] })
  })

  it.each([['12345678901'], [{ value: '12345678901' }], [{ list: [1, 2, 3] }]])(
    'drops a value that is too long: %j',
    value => {
      expect(validateContext({ one: value }, rules).issues).toEqual([{ name: 'one', reason: 'value_too_long' }])
    },
  )

  it('accepts only declared attributes if the agent declares any', () => {
    const attributes = { age: { type: 'integer' }, note: { maxLength: 20 } }
    const context = { age: 'old', note: 'fifteen letters', shoe: 44, toString: 'x' }
    expect(validateContext(context, { ...rules, attributes })).toEqual({
      accepted: { note: 'fifteen letters' },
      issues: [
        { name: 'age', reason: 'type_mismatch', expectedType: 'integer', providedType: 'string' },
        { name: 'shoe', reason: 'unknown_attribute' },
        { name: 'toString', reason: 'unknown_attribute' },
      ],
    })
  })

  it('reports or returns every attribute of any context, unchanged', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), context => {
        const before = JSON.stringify(context)
        const { accepted, issues } = validateContext(context, rules)
        const names = [...Object.keys(accepted), ...issues.map(issue => issue.name)]
        expect(names.sort()).toEqual(Object.keys(context).sort())
        expect(JSON.stringify(context)).toBe(before)
      }),
    )
  })
})
