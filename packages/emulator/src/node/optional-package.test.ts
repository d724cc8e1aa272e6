import { describe, expect, it } from 'vitest'
import { CERTIFICATES, isInstalled, LOGINS, MissingPackageError, requireInstalled } from './optional-package.ts'

describe('packages that are not installed with the emulator', () => {
  it.each([LOGINS, CERTIFICATES])('finds the packages of $name in this repository', part => {
    expect(isInstalled(part)).toBe(true)
    expect(() => requireInstalled(part)).not.toThrow()
  })

  it('names what to install when one of the packages is missing', () => {
    const part = { name: 'Dances', packages: { 'oidc-provider': '9', '@aiagent/no-such-package': '1.2' } }
    expect(isInstalled(part)).toBe(false)
    expect(() => requireInstalled(part)).toThrow(MissingPackageError)
    expect(() => requireInstalled(part)).toThrow(
      'Dances of the emulator need packages that are not installed. Install with: npm install oidc-provider@9 @aiagent/no-such-package@1.2',
    )
  })
})
