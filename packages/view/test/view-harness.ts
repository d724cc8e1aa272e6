import type { AiAgent } from '@aiagent/client'
import type { EmulatorOptions } from '@aiagent/emulator'
import { eventually, type ManualClock } from '@aiagent/test-support'
import { setUpTab } from '../../client/test/resume-harness.ts'
import type { ConversationMessage } from '../src/conversation-message.ts'
import type { ConversationView, ConversationViewOptions } from '../src/conversation-snapshot.ts'
import { createConversationView } from '../src/conversation-view.ts'
import type { ViewPlatform } from '../src/view-platform.ts'

/** The platform of a hidden page with a network, on a test's clock. */
export function viewPlatform(clock: ManualClock) {
  const online = { isOnline: true, listener: () => {} }
  const platform: ViewPlatform = {
    isVisible: () => false,
    requestFrame: () => {},
    isOnline: () => online.isOnline,
    onOnlineChange: listener => {
      online.listener = listener
      return () => {
        online.listener = () => {}
      }
    },
    setTimer: (callback, ms) => {
      const timer = clock.setTimeout(callback, ms)
      return () => clock.clearTimeout(timer)
    },
    now: clock.now,
  }
  const setOnline = (isOnline: boolean) => {
    online.isOnline = isOnline
    online.listener()
  }
  return { platform, setOnline }
}

/** A tab of a browser with an agent that resumes its conversation, and a view of it. */
export function setUpView(options: EmulatorOptions = {}) {
  const tab = setUpTab({ baseReconnectDelay: 1, maxReconnectDelay: 1 }, options)
  const device = viewPlatform(tab.clock)
  const show = (agent: AiAgent, more: ConversationViewOptions = {}): ConversationView =>
    createConversationView(agent, { platform: device.platform, ...more })
  /** Opens a page of the tab, with a conversation that is connected. */
  const openView = async () => {
    const { agent, told } = tab.load()
    const view = show(agent)
    await view.start()
    return { agent, told, view }
  }
  return { ...tab, ...device, show, openView }
}

/** Sends a message and waits until so many messages are shown. */
export async function say(view: ConversationView, text: string, count: number): Promise<void> {
  await view.send(text)
  await eventually(() => view.getSnapshot().messages.length >= count, `${count} messages`)
}

/** Author and content of each message. */
export const linesOf = (messages: readonly ConversationMessage[]): string[] =>
  messages.map(({ author, content }) => `${author}: ${content}`)

/** The last message. */
export function lastOf(view: ConversationView): ConversationMessage {
  const last = view.getSnapshot().messages.at(-1)
  if (!last) throw new Error('There is no message.')
  return last
}
