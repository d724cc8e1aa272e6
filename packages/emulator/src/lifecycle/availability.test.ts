import { afterEach, describe, expect, it } from 'vitest'
import { createEmulator } from '../emulator.ts'

describe('the emulator in one process', () => {
  const warnings: Error[] = []
  const note = (warning: Error) => void warnings.push(warning)
  afterEach(() => {
    process.off('warning', note)
    warnings.length = 0
  })

  it('answers forty requests at once, with one signal of the caller, without a warning of Node', async () => {
    process.on('warning', note)
    const emulator = createEmulator({ settings: { answerDelayMs: 5 } })
    const { signal } = new AbortController()
    const address = `${emulator.origin}/system/deploymentInfo`
    const answers = await Promise.all(Array.from({ length: 40 }, () => emulator.fetch(address, { signal })))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 40 }, () => 200))
    // Node emits a warning with the next tick.
    await new Promise<void>(resolve => setImmediate(resolve))
    expect(warnings).toEqual([])
    emulator.close()
  })

  it('rejects all of forty requests in flight when it shuts down', async () => {
    const emulator = createEmulator()
    emulator.faults.add({ kind: 'hang-request' })
    const requests = Array.from({ length: 40 }, () => emulator.fetch(`${emulator.origin}/system/deploymentInfo`))
    emulator.close()
    const outcomes = await Promise.allSettled(requests)
    expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 40 }, () => 'rejected'))
  })
})
