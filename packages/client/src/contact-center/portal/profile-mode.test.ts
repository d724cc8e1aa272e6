import { describe, expect, it } from 'vitest'
import { persistsProfile, usesPortalProfile } from './profile-mode.ts'

describe('where the profile comes from, and whether the service stores it', () => {
  it.each([
    // userType, authType, the portal's own profile, PUT
    ['customer', undefined, true, false],
    ['customer', 'user', true, false],
    ['agent', 'customer', true, false],
    [undefined, 'customer', true, false],
    ['agent', undefined, false, true],
    ['agent', 'anonymous', false, true],
    [undefined, 'user', false, true],
    ['other', 'user', false, true],
    [undefined, undefined, false, true],
    [null, undefined, false, true],
    [' ', undefined, false, true],
    [undefined, 'anonymous', false, false],
    ['other', undefined, false, false],
  ])(
    '[INIT-05] userType %s, authType %s: portal profile %s, stored at the service %s',
    (userType, authType, own, told) => {
      expect(usesPortalProfile(userType === undefined ? {} : { userType }, { authType })).toBe(own)
      expect(persistsProfile(userType === undefined ? {} : { userType }, { authType })).toBe(told)
    },
  )
})
