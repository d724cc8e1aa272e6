import type { AiAgent } from '@aiagent/client'
import {
  AiAgentProvider,
  type AiAgentProviderProps,
  useAiAgent,
  useConversation,
  useConversationView,
} from '@aiagent/react'
import { cleanup, render, waitFor } from '@testing-library/react'
import { Activity, Component, type ReactNode, StrictMode, Suspense, use } from 'react'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { setUpAgents } from './agents.ts'

afterEach(cleanup)

/** State of the connection and texts of the messages. */
function Shown() {
  const { messages, connection } = useConversation()
  return [connection.state, ...messages.map(({ content }) => content)].join(' | ')
}

const shown = (props: AiAgentProviderProps) => (
  <AiAgentProvider {...props}>
    <Shown />
  </AiAgentProvider>
)

/** Renders into an element of its own; `text()` is what it shows. */
function mount(ui: ReactNode) {
  const { container, rerender, unmount } = render(ui)
  return {
    show: rerender,
    unmount,
    text: () => container.textContent,
    shows: (text: string) => waitFor(() => expect(container.textContent).toBe(text)),
  }
}

const phase = (agent: AiAgent) => agent.status.phase.at
const isLeft = (agent: AiAgent) => waitFor(() => expect(agent.getState()).toBe('CLOSED'))

/** Waits until timers without a delay have run, and those that they set. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setTimeout(resolve))
}

describe('the life of an agent', () => {
  it('starts once in StrictMode, and leaves the chat when the provider is unmounted', async () => {
    const { newAgent, counts, isOpen } = setUpAgents()
    const agent = newAgent()
    const { shows, unmount } = mount(<StrictMode>{shown({ agent })}</StrictMode>)
    await shows('connected')
    await agent.send('hello')
    await shows('connected | hello | You said: hello')
    expect(counts()).toEqual({ sessionCalls: 1, sockets: 1, texts: ['hello'] })
    unmount()
    await isLeft(agent)
    expect(isOpen()).toBe(false)
    expect(phase(agent)).toBe('ready')
  })

  it.each(['hang-request', 'hang-upgrade'] as const)('ends during %s, without a late connection', async kind => {
    const { newAgent, emulator, isOpen } = setUpAgents()
    const { id } = emulator.faults.add({ kind })
    const agent = newAgent()
    const { unmount } = mount(<StrictMode>{shown({ agent })}</StrictMode>)
    await waitFor(() => expect(emulator.control.requests()).not.toEqual([]))
    unmount()
    await settle()
    emulator.faults.lift({ id })
    await settle()
    expect(isOpen()).toBe(false)
    expect(agent.isConnected()).toBe(false)
  })

  it('starts with a later autoStart, and outlives its provider with a later keepAgent', async () => {
    const { newAgent, counts } = setUpAgents()
    const agent = newAgent()
    const { show, shows, unmount } = mount(shown({ agent, autoStart: false }))
    await settle()
    expect(counts().sessionCalls).toBe(0)
    show(shown({ agent, keepAgent: true }))
    await shows('connected')
    unmount()
    await settle()
    expect(phase(agent)).toBe('ready')
    await agent.destroy()
  })

  it('is left where another agent replaces it, whose messages alone are shown', async () => {
    const { newAgent, emulator, counts } = setUpAgents()
    const [first, second] = [newAgent(), newAgent()]
    const { show, shows } = mount(shown({ agent: first }))
    await shows('connected')
    const { id } = emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
    emulator.control.dropSockets()
    await shows('reconnecting')
    const pending = first.send('pending')
    await shows('reconnecting | pending')
    await pending
    show(shown({ agent: second }))
    await isLeft(first)
    emulator.faults.lift({ id })
    await shows('connected')
    await second.send('hello')
    await shows('connected | hello | You said: hello')
    expect(counts().texts).toEqual(['hello'])
  })

  it('goes on when a component below fails', async () => {
    const { newAgent } = setUpAgents()
    const agent = newAgent()
    const silence = vi.spyOn(console, 'error').mockImplementation(() => {})
    const fail = { now: false }
    const ui = (key: number) => (
      <AiAgentProvider agent={agent} key={key}>
        <Boundary>
          <Failing fail={fail} />
        </Boundary>
      </AiAgentProvider>
    )
    const { show, shows } = mount(ui(1))
    await shows('connected')
    fail.now = true
    await agent.send('hello')
    await shows('failed')
    await settle()
    expect(phase(agent)).toBe('ready')
    fail.now = false
    show(ui(2))
    await shows('connected | hello | You said: hello')
    silence.mockRestore()
  })
})

class Boundary extends Component<{ children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false }
  static getDerivedStateFromError = () => ({ hasFailed: true })
  override render = () => (this.state.hasFailed ? 'failed' : this.props.children)
}

function Failing({ fail }: { fail: { now: boolean } }) {
  const { messages } = useConversation()
  if (fail.now && messages.length > 0) throw new Error('A component failed.')
  return <Shown />
}

describe('hidden and suspended trees', () => {
  it('leave no listener on the page when they are given up before they were shown', async () => {
    const { newAgent } = setUpAgents()
    const count = vi.fn()
    const added = vi.spyOn(window, 'addEventListener').mockImplementation(name => void count(name))
    const pending = new Promise<never>(() => {})
    const Pending = () => [useConversationView() && '', use(pending)]
    const agent = newAgent()
    const { unmount, text } = mount(
      <Suspense fallback="waiting">
        <AiAgentProvider agent={agent}>
          <Pending />
        </AiAgentProvider>
      </Suspense>,
    )
    expect(text()).toBe('waiting')
    unmount()
    added.mockRestore()
    expect(count.mock.calls.flat().filter(name => /line$/.test(name))).toEqual([])
    expect(phase(agent)).toBe('idle')
  })

  it('show an agent that is kept when they come back', async () => {
    const { newAgent, counts } = setUpAgents()
    const agent = newAgent()
    const ui = (mode: 'visible' | 'hidden') => <Activity mode={mode}>{shown({ agent, keepAgent: true })}</Activity>
    const { show, shows } = mount(ui('visible'))
    await shows('connected')
    show(ui('hidden'))
    await settle()
    await agent.send('meanwhile')
    await settle()
    show(ui('visible'))
    await shows('connected | meanwhile | You said: meanwhile')
    await agent.send('again')
    await shows('connected | meanwhile | You said: meanwhile | again | You said: again')
    expect(counts()).toMatchObject({ sessionCalls: 1, sockets: 1 })
    await agent.destroy()
  })
})

describe('two providers on a page', () => {
  it('share an agent: it starts once, and is left with the last of them', async () => {
    const { newAgent, counts } = setUpAgents()
    const agent = newAgent()
    const first = mount(shown({ agent }))
    const second = mount(shown({ agent }))
    await first.shows('connected')
    await second.shows('connected')
    first.unmount()
    await settle()
    expect(phase(agent)).toBe('ready')
    await agent.send('hello')
    await second.shows('connected | hello | You said: hello')
    expect(counts()).toEqual({ sessionCalls: 1, sockets: 1, texts: ['hello'] })
    second.unmount()
    await isLeft(agent)
  })

  it('keep two agents apart', async () => {
    const { newAgent, counts } = setUpAgents()
    const [one, two] = [newAgent(), newAgent()]
    const first = mount(shown({ agent: one }))
    const second = mount(shown({ agent: two }))
    await first.shows('connected')
    await second.shows('connected')
    await one.send('hello')
    await first.shows('connected | hello | You said: hello')
    expect(second.text()).toBe('connected')
    expect(counts()).toEqual({ sessionCalls: 2, sockets: 2, texts: ['hello'] })
    first.unmount()
    await isLeft(one)
    expect(phase(two)).toBe('ready')
  })

  it('call the onLogin that is mounted, also where the other provider has none, and the function of the last rendering', async () => {
    const { newAgent } = setUpAgents()
    const agent = newAgent()
    const calls: string[] = []
    const login = async () => {
      await capture.view?.login()
      return calls.splice(0)
    }
    const capture: { view?: ReturnType<typeof useConversationView> } = {}
    const Capture = () => {
      capture.view = useConversationView()
      return <Shown />
    }
    const ui = (name: string) => (
      <AiAgentProvider agent={agent} onLogin={() => void calls.push(name)}>
        <Capture />
      </AiAgentProvider>
    )
    const first = mount(ui('old'))
    const badge = mount(shown({ agent }))
    await badge.shows('connected')
    expect(await login()).toEqual(['old'])
    first.show(ui('new'))
    expect(await login()).toEqual(['new'])
    first.unmount()
    expect(await login()).toEqual([])
    badge.unmount()
    await isLeft(agent)
  })
})

describe('another user', () => {
  it('sees nothing of the one before: neither messages nor the draft', async () => {
    const { newAgent } = setUpAgents()
    const agent = newAgent()
    const Draft = () => useConversation(({ draft }) => `[${draft}]`)
    const capture: { setDraft?: (text: string) => void } = {}
    const Capture = () => {
      capture.setDraft = useConversationView().setDraft
      return null
    }
    const { shows } = mount(
      <AiAgentProvider agent={agent}>
        <Shown />
        <Draft />
        <Capture />
      </AiAgentProvider>,
    )
    await shows('connected[]')
    await agent.send('secret')
    capture.setDraft?.('half a secret')
    await shows('connected | secret | You said: secret[half a secret]')
    await agent.logout()
    await shows('idle[]')
  })
})

describe('without a provider', () => {
  it('the hooks say what is missing', () => {
    const silence = vi.spyOn(console, 'error').mockImplementation(() => {})
    const Lost = () => String(useAiAgent())
    expect(() => mount(<Lost />)).toThrow('This component needs an <AiAgentProvider> above it.')
    silence.mockRestore()
  })
})
