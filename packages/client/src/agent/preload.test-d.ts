import { assertType, describe, expectTypeOf, it } from 'vitest'
import { preload } from '../index.ts'
import type { PreloadOptions } from './preload.ts'

describe('preload', () => {
  it('accepts its options, or none', () => {
    assertType<PreloadOptions>({ resume: true, login: true })
    // @ts-expect-error there is no such part
    assertType<PreloadOptions>({ logins: true })
    expectTypeOf(preload).returns.toEqualTypeOf<Promise<void>>()
  })
})
