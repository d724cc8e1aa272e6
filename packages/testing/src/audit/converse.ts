import { PERSONA, ROLE } from '@aiagent/protocol'
import type { TestService } from '../service/test-service.ts'
import { type Canaries, contextOf, questionsOf } from './canary.ts'

/** What an audit does with a host. */
export interface AuditDriver {
  /** Initializes and connects, until the chat is open. */
  open(): Promise<unknown>
  /** Sends a text of the user. */
  say(text: string): Promise<unknown>
  /** Sends attributes of the context. Without it, only the initial context is audited. */
  setContext?: ((attributes: Record<string, unknown>) => unknown) | undefined
  /** Leaves the chat. What is said afterwards waits. Without it, the step is left out. */
  leave?: (() => unknown) | undefined
  /** Opens the chat again: the same page or agent, or a reload of the page. */
  reopen(): Promise<unknown>
}

/** What a conversation needs. */
export interface ConverseOptions {
  readonly driver: AuditDriver
  readonly service: TestService
  readonly canaries: Canaries
  /** Whether the host renews its tokens when they expire. */
  readonly renewsTokens: boolean
  /** Whether creating a session fails at first. */
  readonly sessionFails: boolean
  /** Time limit of a step, in milliseconds. */
  readonly timeoutMs: number
}

const POLL_MS = 5

/**
 * Holds a conversation in which every kind of trouble happens once, and returns the steps that did not happen. A step that
 * fails does not prevent the next one.
 */
export async function converse(options: ConverseOptions): Promise<string[]> {
  const { driver, service, canaries, renewsTokens, sessionFails, timeoutMs } = options
  const { control, faults, world } = service.emulator
  const incomplete: string[] = []

  const until = async (what: string, holds: () => boolean) => {
    for (const end = Date.now() + timeoutMs; !holds(); ) {
      if (Date.now() > end) throw new Error(`${what} did not happen within ${timeoutMs} ms`)
      await new Promise<void>(resolve => setTimeout(resolve, POLL_MS))
    }
  }
  const within = async (what: string, work: unknown) => {
    let isSettled = false
    const settled = Promise.resolve(work).finally(() => {
      isSettled = true
    })
    settled.catch(() => {})
    await until(what, () => isSettled)
    await settled
  }
  const step = async (name: string, act: () => Promise<void>) => {
    try {
      await act()
    } catch (error) {
      incomplete.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const sessionId = () => service.sessionId() ?? ''
  const textsOf = () => [...world.records.keys()].flatMap(id => service.userTexts(id))
  const openings = () => control.requests().filter(({ status }) => status === 101).length
  const say = async (text: string) => {
    const before = textsOf().length
    await within('the end of send()', driver.say(text))
    await until(`the arrival of "${text.slice(0, 20)}…"`, () => textsOf().length > before)
  }
  const echo = `A request with the token ${canaries.valueOf('token', 'error')} failed`

  await step('opening the chat after failed REST calls', async () => {
    const failing = { status: 500, body: { code: '500-000', message: echo }, times: 1 }
    const customer = faults.add({ kind: 'answer', route: 'GET */customer*', ...failing })
    if (sessionFails) faults.add({ kind: 'answer', route: 'POST */session', ...failing })
    await within('the opening of the chat', driver.open())
    await until('a connection', () => openings() > 0)
    if (faults.inForce().some(({ id }) => id === customer.id)) throw new Error('no REST call failed')
  })
  for (const question of questionsOf(canaries)) await step('asking', () => say(question))
  await step('sending context', async () => {
    await within('the end of setContext()', driver.setContext?.(contextOf(canaries)))
    await until(
      'the arrival of the context',
      () => world.sessions.get(sessionId())?.context['cardOnFile'] !== undefined,
    )
  })
  await step('a cut connection and a refused upgrade', async () => {
    const before = openings()
    const refusal = faults.add({ kind: 'refuse-upgrade', status: 503, times: 1 })
    faults.add({ kind: 'drop' })
    await within('the end of send()', driver.say('Is anybody there?'))
    await until('a refused upgrade', () => faults.inForce().every(({ id }) => id !== refusal.id))
    await until('another connection', () => openings() > before)
    await say('And now?')
  })
  if (renewsTokens)
    await step('renewing an expired token', async () => {
      const tokens = () => control.frames(sessionId()).filter(({ message }) => message?.role === ROLE.TOKEN).length
      const before = tokens() + openings()
      faults.add({ kind: 'expire-tokens' })
      await within('the end of send()', driver.say('Do I have to sign in again?'))
      await until('a new token', () => tokens() + openings() > before)
      await say('It seems not.')
    })
  await step('frames that the client cannot use', async () => {
    control.pushFrame(sessionId(), `{ "persona": "${echo}`)
    control.pushFrame(sessionId(), { persona: PERSONA.SYSTEM, role: ROLE.ERROR, content: echo, messageData: {} })
    control.pushFrame(sessionId(), { persona: 'system', role: 'unknown-kind', content: echo, messageData: {} })
    await say('Can you read this?')
  })
  const { leave } = driver
  if (leave)
    await step('messages of a closed chat', async () => {
      const before = textsOf().length
      const waiting = questionsOf(canaries)
      await within('the end of the chat', leave())
      for (const question of waiting) await within('the end of send()', driver.say(question))
      await within('the opening of the chat', driver.reopen())
      await until('the arrival of the waiting messages', () => textsOf().length >= before + waiting.length)
    })
  else await step('reopening the page', () => within('the opening of the chat', driver.reopen()))
  faults.lift()
  for (const id of world.records.keys()) canaries.add('session', 'session', id)
  return incomplete
}
