import type { FakeTab } from '../../client/test/fake-browser.ts'
import { setUpTabs } from '../../client/test/set-up-tabs.ts'
import { createConversationView } from '../src/conversation-view.ts'
import { handingOver, ScriptedDesk } from './scripted-desk.ts'
import { viewPlatform } from './view-harness.ts'

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
  const openTab = async (tab: FakeTab = browser.open()) => {
    const { agent } = tabs.made({ resume: true }, tab)
    const { window } = tab.environment.page as never as { window: typeof globalThis & Window }
    const view = createConversationView(agent, {
      escalate: desk.escalate,
      platform: {
        ...viewPlatform(clock).platform,
        setTimer: (callback, ms) => {
          const timer = clock.setTimeout(() => tab.run(callback), ms)
          return () => clock.clearTimeout(timer)
        },
        locks: window.navigator.locks,
        createChannel: name => new window.BroadcastChannel(name),
      },
    })
    // The first page loads the code, in real time.
    if (isFirst) await view.start()
    else await pass(view.start())
    isFirst = false
    return { agent, view, tab }
  }
  const until = (isTrue: () => unknown, what: string) => tabs.passUntil(() => Boolean(isTrue()), what)
  return { ...tabs, desk, openTab, until, pass }
}
