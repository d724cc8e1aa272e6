import { describe, expect, it } from 'vitest'
import { createDataMasker } from './data-masker.ts'
import { Masking } from './masking.ts'

const DIGITS = createDataMasker({ patterns: [{ name: 'Digits', javascriptRegularExpression: '\\d+' }] })
const LETTERS = createDataMasker({ patterns: [{ name: 'Letters', javascriptRegularExpression: '[a-z]+' }] })

function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('Expected an error.')
}

describe('the active rules', () => {
  it.each([
    ['before anything is loaded', [], 'a1'],
    ['with rules', [DIGITS], 'a*'],
    ['when other rules come', [DIGITS, LETTERS], '*1'],
    ['when the service does not answer: the earlier rules', [DIGITS, 'unknown'], 'a*'],
    ['when the service does not answer the first time', ['unknown'], 'a1'],
    ['when all rules are removed', [DIGITS, 'none'], 'a1'],
  ] as const)('%s', (_, found, masked) => {
    const masking = new Masking({})
    for (const each of found) masking.settle(each)
    expect([masking.mask('a1'), masking.maskOutgoing('a1', 'm-1')]).toEqual([masked, masked])
  })

  it.each(['', null, undefined])('leave %j as it is', nothing => {
    const masking = new Masking({})
    masking.settle(DIGITS)
    expect(masking.mask(nothing as string)).toBe(nothing)
  })

  it('preview their replacements', () => {
    const masking = new Masking({ required: false })
    expect(masking.preview('a1')).toEqual({ isActive: false, content: 'a1', spans: [] })
    masking.settle(DIGITS)
    const { isActive, content, spans } = masking.preview('a1')
    expect([isActive, content]).toEqual([true, 'a*'])
    expect(spans).toMatchObject([{ rule: 'Digits', start: 1, end: 2, replacement: '*' }])
  })
})

describe('when masking is required', () => {
  it.each([[[]], [['none']], [['unknown']], [[DIGITS, 'none']]] as const)(
    'nothing is sent after %j, and text of other senders stays unchanged',
    found => {
      const masking = new Masking({ required: true })
      for (const each of found) masking.settle(each)
      const error = { code: 'MESSAGE_ERROR', reason: 'masking_unavailable', messageId: 'm-1' }
      expect(thrownBy(() => masking.maskOutgoing('a1', 'm-1'))).toMatchObject(error)
      expect(masking.mask('a1')).toBe('a1')
    },
  )

  it('text without matches is sent', () => {
    const masking = new Masking({ required: true })
    masking.settle(DIGITS)
    expect(masking.maskOutgoing('a1', 'm-1')).toBe('a*')
  })
})
