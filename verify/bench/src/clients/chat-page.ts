// What the bench does in a page with the chat element.
import { AiAgent } from '@aiagent/client'
import type { AiAgentChatElement } from '@aiagent/elements'

/** Frames over which is scrolled, and pixels in each: 6,000 in a second, as after a strong swipe. */
const SCROLL = { frames: 120, px: 100 }

/** What is not shown by then has failed, in milliseconds. */
const LIMIT_MS = 30_000

let agent: AiAgent
let chat: AiAgentChatElement

/** Connects an agent, which the chat is given later. */
export async function connect(endpoint: string): Promise<void> {
  agent = new AiAgent({ id: 'help', endpoint, enableLogging: false })
  await agent.initialize()
  await agent.connect()
}

export const received = (): number => agent.getTranscriptSize()

/** Milliseconds from the insertion of a chat into the page until its last message is painted, with its Markdown. */
export async function open(last: string): Promise<number> {
  await import('@aiagent/elements')
  const start = performance.now()
  chat = document.createElement('ai-agent-chat')
  chat.agent = agent
  document.body.append(chat)
  await until(() => textOf('.row:last-child .bubble').includes(last) && textOf('.row:last-child strong') !== '')
  // The frame in which the rows are painted ends before the next one begins.
  await frame()
  return performance.now() - start
}

/** Shows all messages, from the first on. */
export async function showAll(messages: number): Promise<void> {
  const root = chat.shadowRoot as ShadowRoot
  const log = root.querySelector('.log') as HTMLElement
  await until(() => {
    root.querySelector<HTMLElement>('.earlier button')?.click()
    return root.querySelectorAll('.row').length === messages
  })
  log.scrollTop = 0
  await frame()
  await frame()
}

/** Scrolls through the messages, and returns the time of each frame in milliseconds. */
export async function scroll(): Promise<number[]> {
  const log = chat.shadowRoot?.querySelector('.log') as HTMLElement
  const times: number[] = []
  let before = await frame()
  for (let index = 0; index < SCROLL.frames; index++) {
    log.scrollTop += SCROLL.px
    const now = await frame()
    times.push(now - before)
    before = now
  }
  return times
}

const waits: number[] = []

/** Measures each key from the moment it was pressed until the page has handled it and its layout is known. */
export function watchTyping(): void {
  const field = chat.shadowRoot?.querySelector('textarea') as HTMLTextAreaElement
  field.focus()
  let pressedAt = 0
  field.addEventListener('keydown', event => {
    pressedAt = event.timeStamp
  })
  addEventListener('input', () => {
    chat.getBoundingClientRect()
    waits.push(performance.now() - pressedAt)
  })
}

export const typed = (): readonly number[] => waits

function textOf(selector: string): string {
  return [...(chat.shadowRoot?.querySelectorAll(selector) ?? [])].at(-1)?.textContent ?? ''
}

/** Looks once in each frame. */
async function until(isDone: () => boolean): Promise<void> {
  const end = performance.now() + LIMIT_MS
  while (!isDone()) {
    if (performance.now() > end) throw new Error('The chat did not show what it was given.')
    await frame()
  }
}

const frame = () => new Promise<number>(resolve => requestAnimationFrame(resolve))
