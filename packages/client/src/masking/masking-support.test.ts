import { describe, expect, it } from 'vitest'
import { isMaskingSupported } from './load-masker.ts'

describe('isMaskingSupported', () => {
  it.each([
    '21.22.2',
    '21.22.3',
    '21.22.10',
    '21.23',
    '21.23.0',
    '21.100.0',
    '22',
    '22.0.0',
    '100.0.0',
    'v21.22.2',
    'release 21.22.2-rc.1+build.7',
    '21.22.2.0',
    ' 21.22.2 ',
  ])('[FLOW-19] is supported from release 21.22.2 on: %s', version => {
    expect(isMaskingSupported(version)).toBe(true)
  })

  it.each(['21.22.1', '21.22', '21', '21.21.9', '21.3.99', '20.99.99', '3.22.2', '0.0.0', 'build 7 of 21.22.2'])(
    '[FLOW-19] is not supported by an earlier release: %s',
    version => {
      expect(isMaskingSupported(version)).toBe(false)
    },
  )

  it.each([undefined, null, '', 'latest', 'v', '...'])(
    '[FLOW-19] is not supported without a known release: %s',
    version => {
      expect(isMaskingSupported(version)).toBe(false)
    },
  )
})
