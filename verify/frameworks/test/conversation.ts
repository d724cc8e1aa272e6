import { expect } from 'vitest'
import { received, type Stage } from './pages.ts'

/** What a user sees and does in a chat page, whichever library draws it. */
export interface ChatPage {
  /** Texts of the messages of both sides that the page shows, in order. */
  texts(): Promise<string[]>
  /** Writes a message and sends it. */
  send(text: string): Promise<void>
  /** Takes one of the offered options. */
  choose(option: string): Promise<void>
  /** Rates the last answer as helpful. Leave it out where the library has no ratings. */
  rate?: () => Promise<void>
  /** Resolves when the page shows that the chat is not connected. Leave it out where the library cannot show it. */
  seeOutage?: () => Promise<void>
  /**
   * Whether the library shows a message that is written while another one is unanswered where it is written, before that answer.
   *
   * @default false
   */
  showsAtOnce?: boolean
}

/**
 * The conversation that each library has to hold: three turns with an option chosen, a rating, a cut before an answer with a
 * message that is written meanwhile, and a message of the agent that answers nothing. At its end the page shows what the
 * service has recorded, no more and no less, and the service got each message of the user once.
 */
export async function holdConversation(stage: Stage, chat: ChatPage): Promise<void> {
  const { emulator } = stage.service
  const { control, faults, settings } = emulator
  const shows = (...texts: string[]) => expect.poll(chat.texts).toEqual(texts)

  await chat.send('hello')
  await shows('hello', 'You said: hello')
  await chat.send('options')
  await shows('hello', 'You said: hello', 'options', 'One moment.', 'Which one?')
  await chat.choose('Blue')
  const turns = ['hello', 'You said: hello', 'options', 'One moment.', 'Which one?', 'Blue', 'You said: Blue']
  await shows(...turns)
  if (chat.rate) {
    await chat.rate()
    await expect.poll(() => received(stage.service).feedback).toEqual(['up'])
  }

  // The answer is under way when the connection breaks, and the service stays away until the next message is written.
  settings.replyDelayMs = 300
  await chat.send('before')
  await expect.poll(() => received(stage.service).texts).toContain('before')
  const { id } = faults.add({ kind: 'refuse-upgrade', status: 503 })
  control.dropSockets()
  await chat.seeOutage?.()
  await chat.send('meanwhile')
  await expect.poll(() => received(stage.service).history).toContain('You said: before')
  expect(received(stage.service).texts).not.toContain('meanwhile')
  faults.lift({ id })
  const [answer, next] = chat.showsAtOnce ? ['meanwhile', 'You said: before'] : ['You said: before', 'meanwhile']
  const outageTurns = ['before', answer, next, 'You said: meanwhile']
  await shows(...turns, ...outageTurns)

  const [session = ''] = emulator.world.sessions.keys()
  control.say(session, { content: 'A colleague will call you.' })
  await shows(...turns, ...outageTurns, 'A colleague will call you.')

  const record = received(stage.service)
  if (!chat.showsAtOnce) expect(await chat.texts()).toEqual(record.history)
  expect(record).toMatchObject({
    sessionCalls: 1,
    sockets: 2,
    texts: ['hello', 'options', 'Blue', 'before', 'meanwhile'],
  })
}
