import type { FakeTab } from '../../client/test/fake-browser.ts'
import { setUpTabs } from '../../client/test/set-up-tabs.ts'
import type { ConversationView } from '../src/conversation-snapshot.ts'
import { createConversationView } from '../src/conversation-view.ts'
import { handingOver, ScriptedDesk } from './scripted-desk.ts'
import { viewPlatform } from './view-harness.ts'

/** A tab with an agent and a view. */
export type OpenedDeskTab = Awaited<ReturnType<ReturnType<typeof setUpDeskTabs>['openTab']>>

/** A browser whose tabs share a conversation, each with a view and the same desk. */
export function setUpDeskTabs() {
  const desk = new ScriptedDesk()
  const tabs = setUpTabs({ reply: handingOver })
  const { clock, browser } = tabs
  let isFirst = true
  /** Lets time pass until a promise has settled. */
  const pass = async <T>(work: Promise<T>): Promise<T> => {
    let isSettled = false
    const settle = () => {
      isSettled = true
    }
    work.then(settle, settle)
    await tabs.passUntil(() => isSettled, 'a settled promise')
    return work
  }
  const openTab = async (
    tab: FakeTab = browser.open(),
    config: Parameters<typeof tabs.made>[0] = {},
    prepare: (view: ConversationView) => void = () => {},
  ) => {
    const { agent } = tabs.made({ resume: true, ...config }, tab)
    const { window } = tab.environment.page as never as { window: typeof globalThis & Window }
    const options = {
      escalate: desk.escalate,
      platform: {
        ...viewPlatform(clock).platform,
        setTimer: (callback: () => void, ms: number) => {
          const timer = clock.setTimeout(() => tab.run(callback), ms)
          return () => clock.clearTimeout(timer)
        },
        locks: window.navigator.locks,
        createChannel: (name: string) => new window.BroadcastChannel(name),
      },
    }
    const view = createConversationView(agent, options)
    const others: ConversationView[] = []
    const addView = () => void others.push(createConversationView(agent, options))
    prepare(view)
    // The first page loads the code, in real time: a busy machine may take longer for it than for the start.
    if (isFirst) await Promise.all([view.start(), import('../src/desk.ts'), import('../src/signals.ts')])
    else await pass(view.start())
    isFirst = false
    return { agent, view, tab, others, addView }
  }
  const until = (isTrue: () => unknown, what: string) => tabs.passUntil(() => Boolean(isTrue()), what)
  return { ...tabs, desk, openTab, until, pass }
}
