import { ManualClock } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { NativeDevice } from '../../test/native-parts.ts'
import { nativeEnvironment } from './native-environment.ts'

const getRandomValues = (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes)

function setUp() {
  const clock = new ManualClock()
  const device = new NativeDevice()
  const { appState, netInfo } = device
  const environment = nativeEnvironment({ getRandomValues, appState, netInfo, clock })
  const returns: number[] = []
  const watch = () => environment.page?.onReturn(awayMs => void returns.push(awayMs))
  return { clock, device, environment, returns, watch }
}

describe('the platform of React Native', () => {
  it('[VIEW-13] makes ids of version 4 from the random bytes that the host hands in', () => {
    const { appState } = new NativeDevice()
    const environment = nativeEnvironment({ getRandomValues: bytes => bytes.fill(0xff), appState })
    expect(environment.randomUUID?.()).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff')
  })

  it('[VIEW-13] tells how long the app was in the background', async () => {
    const { clock, device, environment, returns, watch } = setUp()
    watch()
    device.become('inactive')
    expect(environment.page?.isHidden()).toBe(false)
    device.become('active')
    expect(returns).toEqual([])
    device.become('background')
    expect(environment.page?.isHidden()).toBe(true)
    await clock.advance(5_000)
    device.become('inactive')
    device.become('active')
    device.become('active')
    expect(returns).toEqual([5_000])
  })

  it('[VIEW-13] counts the time in the background from the first look at it', async () => {
    const { clock, device, returns, watch } = setUp()
    device.become('background')
    watch()
    await clock.advance(1_000)
    device.become('active')
    expect(returns).toEqual([1_000])
  })

  it('[VIEW-13] reports a network that returns or changes, and no other news of it', () => {
    const { device, returns, watch } = setUp()
    watch()
    device.connectTo('wifi')
    device.connectTo('none')
    expect(returns).toEqual([])
    device.connectTo('wifi')
    device.connectTo('cellular')
    expect(returns).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY])
  })

  it('[VIEW-13] leaves no listener behind', () => {
    const { device, returns, watch } = setUp()
    const stop = watch()
    expect(device.listeners).toBe(2)
    stop?.()
    expect(device.listeners).toBe(0)
    device.connectTo('cellular')
    expect(returns).toEqual([])
  })

  it('[VIEW-13] uses replacements of the host, and its clock for tasks', async () => {
    const { clock, environment } = setUp()
    expect(environment.clock).toBe(clock)
    let ran = false
    environment.page?.nextTask(() => {
      ran = true
    })
    expect(ran).toBe(false)
    await clock.advance(0)
    expect(ran).toBe(true)
    const script = environment.page?.addScript({ src: 'https://desk.example.test/connector.js' })
    await expect(script?.ran).rejects.toThrow('React Native has no script tags.')
    expect(script?.isCurrent()).toBe(false)
  })
})
