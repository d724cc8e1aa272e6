import { describe, expect, it } from 'vitest'
import { profileAttribute } from './profile-context.ts'

describe('the context attribute of another profile', () => {
  it.each([
    ['replaces a plain value', '10', '12'],
    ['replaces a number', 10, '12'],
    ['replaces a list', ['10'], '12'],
    [
      'keeps the fields that the host set',
      { value: '10', type: 'string', more: 1 },
      { value: '12', type: 'string', more: 1 },
    ],
  ])('%s', (_case, stored, expected) => {
    const context = { page: 'cart', vendor_personalization_profile_id: stored }
    const before = structuredClone(context)
    expect(profileAttribute(context, 12)).toEqual({ vendor_personalization_profile_id: expected })
    expect(context).toEqual(before)
  })

  it.each([null, {}, { page: 'cart' }])('is not added to %j', context => {
    expect(profileAttribute(context, 12)).toBeUndefined()
  })
})
