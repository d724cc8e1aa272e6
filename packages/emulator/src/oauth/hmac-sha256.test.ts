import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hmacSha256 } from './hmac-sha256.ts'

describe('hmacSha256', () => {
  it("agrees with the platform's on any key and any message", () => {
    const bytes = fc.uint8Array({ maxLength: 300 })
    fc.assert(
      fc.property(bytes, bytes, (key, message) => {
        expect([...hmacSha256(key, message)]).toEqual([...createHmac('sha256', key).update(message).digest()])
      }),
    )
  })
})
