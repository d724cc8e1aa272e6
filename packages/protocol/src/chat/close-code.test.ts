import { describe, expect, it } from 'vitest'
import { CLIENT_DISCONNECT_REASON, CLOSE_CODE, isFinalCloseCode, isSessionRefusal } from './close-code.ts'

describe('close codes', () => {
  it('[FLOW-02] are final for 1000 and 1005 alone', () => {
    const final = Array.from({ length: 5_000 }, (_, code) => code).filter(isFinalCloseCode)
    expect(final).toEqual([CLOSE_CODE.NORMAL, CLOSE_CODE.NO_STATUS])
  })

  it('[FLOW-02] go with the reason that a client leaves for', () => {
    expect(CLIENT_DISCONNECT_REASON).toBe('Client disconnect')
  })

  it('have the numbers of the wire', () => {
    expect(CLOSE_CODE).toEqual({
      NORMAL: 1000,
      GOING_AWAY: 1001,
      NO_STATUS: 1005,
      ABNORMAL: 1006,
      POLICY_VIOLATION: 1008,
      TOO_LARGE: 1009,
      SESSION_UNKNOWN: 4404,
      FENCED: 4409,
    })
  })

  it.each([
    [404, true],
    [410, true],
    [400, false],
    [401, false],
    [403, false],
    [500, false],
    [undefined, false],
  ])('take an upgrade refused with %s as a refusal of the session: %s', (status, refusal) => {
    expect(isSessionRefusal(status)).toBe(refusal)
  })
})
