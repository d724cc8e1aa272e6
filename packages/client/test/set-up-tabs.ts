import { createEmulator, type EmulatorOptions } from '@aiagent/emulator'
import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { AiAgent } from '../src/ai-agent.ts'
import type { AiAgentConfig } from '../src/config.ts'
import { FakeBrowser, FakeChannel, type FakeTab } from './fake-browser.ts'

/** What the service announces, unless a test wants the plain wire. */
export const CAPABILITIES = ['receipts', 'resume', 'fencing'] as const

interface PostedState {
  readonly data: { readonly from: string; readonly message: { readonly kind: string; readonly fence: number } }
}

/** A message between tabs, and its sender. */
type HeardMessage = Record<string, unknown> & { readonly kind?: string; readonly from?: string }

/** The configuration of a tab; `tabs: undefined` makes it share nothing. */
type TabConfig = Omit<Partial<AiAgentConfig>, 'tabs'> & { tabs?: 'share' | undefined }

/** A browser, and tabs in it that share a conversation. */
export function setUpTabs(options: EmulatorOptions = {}) {
  const clock = new ManualClock()
  const reply = ({ text }: { text: string }) => ({ content: `You said: ${text}` })
  const emulator = createEmulator({ clock, reply, ...options })
  const browser = new FakeBrowser(clock, emulator)
  const made = (config: TabConfig = {}, tab: FakeTab = browser.open()) => {
    const agent = new AiAgent(
      { id: 'help', endpoint: emulator.origin, tabs: 'share', enableLogging: false, ...config } as AiAgentConfig,
      tab.environment,
    )
    return { agent, tab }
  }
  const open = async (config?: TabConfig, tab?: FakeTab) => {
    const opened = made(config, tab)
    await opened.agent.initialize()
    return opened
  }
  const connected = async (config: TabConfig = {}, tab?: FakeTab) => {
    const opened = await open(config, tab)
    await opened.agent.connect()
    return opened
  }
  /** Lets time pass until a condition is true. */
  const passUntil = async (isTrue: () => boolean, what: string, limitMs = 10_000) => {
    for (let ms = 0; !isTrue(); ms += 50) {
      if (ms > limitMs) throw new Error(`After ${limitMs} ms there was not: ${what}`)
      await clock.advance(50)
    }
  }
  /** Claims to lead, from another tab with a higher number and without the lock: to all tabs, or to the leader alone. */
  const claimLead = async (to: 'all' | 'leader') => {
    const [{ name } = { name: '' }] = [...browser.tabs].flatMap(tab => [...tab.channels])
    const channel = new FakeChannel(name, browser.open())
    let isClaimed = false
    channel.onmessage = ({ data: { from, message } }: PostedState) => {
      if (message.kind !== 'state' || isClaimed) return
      isClaimed = true
      const claim = { ...message, fence: message.fence + 1_000_000 }
      channel.postMessage({ from: 'another', number: 1, to: to === 'leader' ? from : undefined, message: claim })
    }
    await passUntil(() => isClaimed, 'the state of the leader')
    channel.close()
  }
  /** A tab of the group whose messages a test writes. It counts as running until `tab` crashes. */
  const scripted = (id: string) => {
    const [{ name } = { name: '' }] = [...browser.tabs].flatMap(tab => [...tab.channels])
    const tab = browser.open()
    const channel = new FakeChannel(name, tab)
    const heard: HeardMessage[] = []
    /** The last number of each tab. */
    const numbers = new Map([[id, 0]])
    channel.onmessage = ({ data }: { data: { from: string; to?: string; number: number; message: HeardMessage } }) => {
      numbers.set(data.from, data.number)
      if (data.to === undefined || data.to === id) heard.push({ ...data.message, from: data.from })
    }
    const skip = () => void numbers.set(id, Number(numbers.get(id)) + 1)
    void browser.locks.request(tab, `${name}-tab-${id}`, {}, () => new Promise(() => {}))
    return {
      id,
      tab,
      /** What the other tabs have posted, for all or for this one. */
      heard: (kind: string) => heard.filter(message => message.kind === kind),
      /** Posts a message, to all unless `to` is given, and lets it arrive. */
      post: async (message: object, { to, from = id }: { to?: string; from?: string } = {}) => {
        if (from === id) skip()
        channel.postMessage({ from, to, number: numbers.get(from) ?? 1, message })
        await turnEventLoop()
      },
      /** The next message follows one that the others do not receive. */
      skip,
    }
  }
  return { clock, emulator, browser, made, open, connected, passUntil, claimLead, scripted }
}

/** What a tab shows, in order. */
export const linesOf = ({ agent }: { agent: AiAgent }) =>
  agent
    .getTranscript()
    .filter(({ message }) => message.persona !== 'system')
    .map(({ direction, message }) => `${direction} ${message.content}`)
