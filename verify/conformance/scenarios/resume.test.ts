import type { AiAgent, AiAgentConfig } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { eventually, turnEventLoop } from '@aiagent/test-support'
import { expect } from 'vitest'
import { openDesk, sessionAgents } from '../desk.ts'
import { Journal } from '../journal.ts'
import { newTab, type Place, reloaded } from '../tab.ts'
import { verifies } from '../verifies.ts'
import type { Service } from '../wire.ts'

interface Talk {
  readonly agent: AiAgent
  readonly journal: Journal
}

/** Creates an agent with `resume` in a tab and connects it. */
async function open(service: Service, tab: Place, config: Partial<AiAgentConfig> = {}): Promise<Talk> {
  const agent = service.newAgent({ resume: true, ...config }, service.environment(reloaded(tab)))
  const journal = new Journal(agent)
  await service.through(agent.initialize())
  await agent.connect()
  return { agent, journal }
}

/** The same for a contact-center agent. */
async function openPortal(service: Service, tab: Place, portal: string, id = 'desk'): Promise<Talk> {
  const config = { id, resume: true, context: { vendor_portal_id: portal } }
  const desk = openDesk(service, config, { environment: service.environment(reloaded(tab)) })
  await service.through(desk.agent.initialize())
  return desk
}

async function say({ agent, journal }: Talk, text: string): Promise<void> {
  const before = journal.answers.length
  await agent.send(text)
  await eventually(() => journal.answers.length > before)
}

/** Directions and contents of the transcript. */
const talkOf = (agent: AiAgent) =>
  agent
    .getTranscript()
    .filter(({ message }) => message.persona !== 'system')
    .map(({ direction, message, timestamp }) => ({ direction, content: message.content, timestamp }))

const linesOf = (agent: AiAgent) => talkOf(agent).map(({ direction, content }) => `${direction}: ${content}`)

const sessionPosts = (service: Service): unknown[] =>
  service.requestsTo(paths.session('help'), 'POST').map(({ body }) => JSON.parse(body ?? ''))

verifies('OWN-30', 'a reload keeps the session and the transcript', async service => {
  const tab = newTab()
  const before = await open(service, tab)
  await say(before, 'one')
  await say(before, 'two')
  const said = talkOf(before.agent)
  const first = service.session
  await before.agent.destroy()
  const after = await open(service, tab)
  expect(talkOf(after.agent)).toMatchObject(said.map(({ direction, content }) => ({ direction, content })))
  const [restored, ...more] = after.journal.of('transcriptRestored')
  expect([restored?.entries.length, more]).toEqual([4, []])
  // Emitted before the agent is ready, so that a page can show it at once.
  expect(after.journal.types.indexOf('transcriptRestored')).toBeLessThan(after.journal.types.indexOf('initialized'))
  await say(after, 'three')
  expect(linesOf(after.agent)).toEqual(
    ['one', 'two', 'three'].flatMap(text => [`sent: ${text}`, `received: You said: ${text}`]),
  )
  expect(service.openings).toEqual([first, first])
  expect(sessionPosts(service)).toHaveLength(1)
  expect(after.journal.of('error')).toEqual([])
})

verifies(
  'OWN-30',
  'the chat history adds messages from between the transcript call and the connection',
  async service => {
    const tab = newTab()
    const before = await open(service, tab)
    await say(before, 'one')
    const first = service.session
    await before.agent.destroy()
    const agent = service.newAgent({ resume: true }, service.environment(reloaded(tab)))
    const journal = new Journal(agent)
    await service.through(agent.initialize())
    // Another client continues the same session meanwhile.
    const other = await service.connectedAgent({ sessionId: first })
    await say({ agent: other, journal: new Journal(other) }, 'two')
    await agent.connect()
    await eventually(() => journal.of('transcriptRestored').length === 2)
    expect(linesOf(agent)).toEqual(['one', 'two'].flatMap(text => [`sent: ${text}`, `received: You said: ${text}`]))
  },
)

verifies('OWN-30', 'the context is sent if the new page changed it', async service => {
  const tab = newTab()
  const before = await open(service, tab, { context: { plan: 'gold' } })
  await before.agent.destroy()
  const same = await open(service, tab, { context: { plan: 'gold' } })
  await say(same, 'What do you know of me?')
  await same.agent.destroy()
  expect(service.frames().map(({ role }) => role)).toEqual(['human'])
  const other = await open(service, tab, { context: { page: '/cart' } })
  await say(other, 'What do you know of me?')
  expect(other.journal.answers.map(answer => JSON.parse(answer ?? ''))).toEqual([{ plan: 'gold', page: '/cart' }])
  expect(sessionPosts(service)).toHaveLength(1)
})

for (const [fate, status] of [
  ['forgetSession', 404],
  ['endSession', 410],
] as const)
  verifies('OWN-31', `a lost session is reported and replaced (${fate})`, async service => {
    const tab = newTab()
    const before = await open(service, tab, { context: { plan: 'gold' } })
    await say(before, 'one')
    const lost = service.session
    await before.agent.destroy()
    service.control[fate](lost)
    const after = await open(service, tab)
    expect(after.journal.of('error')).toMatchObject([{ error: { reason: 'refused', httpStatus: status } }])
    expect(after.journal.types.indexOf('error')).toBeLessThan(after.journal.types.indexOf('initialized'))
    await say(after, 'two')
    expect(linesOf(after.agent)).toEqual(['sent: two', 'received: You said: two'])
    expect(service.session).not.toBe(lost)
    expect(sessionPosts(service)).toEqual([{ context: { plan: 'gold' } }, { context: { plan: 'gold' } }])
  })

verifies('OWN-31', 'after a failing transcript call the chat history restores the messages', async service => {
  const tab = newTab()
  const before = await open(service, tab)
  await say(before, 'one')
  const first = service.session
  await before.agent.destroy()
  service.faults.add({ kind: 'answer', route: paths.previousTranscript('help', first), status: 500 })
  const after = await open(service, tab)
  await eventually(() => after.journal.of('transcriptRestored').length)
  expect(linesOf(after.agent)).toEqual(['sent: one', 'received: You said: one'])
  expect([service.session, after.journal.of('error')]).toEqual([first, []])
  expect(service.printed.join('\n')).toMatch(/\[WARN\].*(?:before the reload|transcript)/)
})

verifies(
  'OWN-32',
  'disconnect() and destroy() keep the stored session; the service ending it drops it',
  async service => {
    const tab = newTab()
    const { agent } = await open(service, tab)
    const first = service.session
    await service.through(agent.disconnect())
    await agent.destroy()
    const again = await open(service, tab)
    expect(service.session).toBe(first)
    service.control.endSession(first)
    await eventually(() => again.agent.getState() === 'CLOSED')
    await again.agent.destroy()
    const { journal } = await open(service, tab)
    expect(service.session).not.toBe(first)
    expect(journal.of('error')).toEqual([])
  },
)

verifies('OWN-32', 'restartConnection() and setSessionId() replace the stored session', async service => {
  const tab = newTab()
  const made = await open(service, tab)
  const first = service.session
  await service.through(made.agent.restartConnection())
  const second = service.session
  await made.agent.destroy()
  const again = await open(service, tab)
  expect([service.session, second === first]).toEqual([second, false])
  again.agent.setSessionId(first)
  await turnEventLoop()
  await again.agent.destroy()
  await open(service, tab)
  expect(service.session).toBe(first)
})

verifies('OWN-32', 'a portal switch and a pipeline restart drop the stored session', async service => {
  const tab = newTab()
  const first = await openPortal(service, tab, '1002')
  await first.agent.connect()
  const session = service.session
  await first.agent.destroy()
  const again = await openPortal(service, tab, '1002')
  await again.agent.connect()
  expect(service.session).toBe(session)
  await service.through(again.agent.selectPortal({ id: 1001 }))
  await service.until(() => again.agent.isConnected())
  const other = service.session
  await service.through(again.agent.restartPortalInitializer())
  await again.agent.destroy()
  for (const portal of ['1002', '1001']) {
    const { agent } = await openPortal(service, tab, portal)
    await agent.connect()
    expect([session, other]).not.toContain(service.session)
    await agent.destroy()
  }
})

verifies(
  ['OWN-32', 'OWN-33'],
  'a profile change starts another conversation, which is stored for the profile',
  async service => {
    const tab = newTab()
    const first = await openPortal(service, tab, '1001')
    await first.agent.connect()
    const session = service.session
    await service.through(first.agent.updateUserProfile({ id: 10 }))
    const other = service.session
    expect(other).not.toBe(session)
    await first.agent.destroy()
    const again = await openPortal(service, tab, '1001')
    await again.agent.connect()
    expect(again.journal.of('initialized')).toMatchObject([{ profile: { id: 10 } }])
    expect(service.session).toBe(other)
    expect(sessionAgents(service)).toEqual(['desk', 'desk'])
  },
)

verifies('OWN-33', 'each portal has its own conversation, which is restored on return', async service => {
  const tab = newTab()
  const sessions: string[] = []
  for (const portal of ['1002', '1001', '1002', '1001']) {
    const { agent } = await openPortal(service, tab, portal)
    await agent.connect()
    sessions.push(service.session)
    await agent.destroy()
  }
  expect(sessions.slice(2)).toEqual(sessions.slice(0, 2))
  expect(new Set(sessions).size).toBe(2)
})

verifies('OWN-33', 'an agent selected in a portal continues its own conversation', async service => {
  const tab = newTab()
  const pick = async (agentId: string) => {
    const config = { resume: true, initParams: { isDefaultAgent: 'true' } }
    const desk = openDesk(service, config, { environment: service.environment(reloaded(tab)) })
    await service.through(desk.agent.initialize())
    await desk.agent.selectPortal({ id: 1001 })
    await desk.agent.selectAgent({ agentId })
    await desk.agent.connect()
    return desk
  }
  const orders = await pick('desk-orders')
  await say(orders, 'one')
  const first = service.session
  await orders.agent.destroy()
  const desk = await pick('desk')
  expect([service.session === first, linesOf(desk.agent)]).toEqual([false, []])
  await desk.agent.destroy()
  const again = await pick('desk-orders')
  expect([service.session, linesOf(again.agent)]).toEqual([first, ['sent: one', 'received: You said: one']])
  expect(again.agent.getTranscript()[0]).toMatchObject({ agentId: 'desk-orders', message: { to: 'Order Assistant' } })
})

verifies('OWN-33', 'another user or agent has another conversation; logout() deletes them', async service => {
  const tab = newTab()
  const as = (subject: string) => ({
    id: 'account',
    auth: { type: 'pre-auth' as const, accessToken: service.control.issueToken({ subject }) },
  })
  const { agent } = await open(service, tab, as('ann'))
  const annes = service.session
  await agent.destroy()
  const help = await open(service, tab)
  const helps = service.session
  await help.agent.destroy()
  const again = await open(service, tab, as('ann'))
  expect(service.session).toBe(annes)
  await again.agent.destroy()
  const bob = await open(service, tab, as('bob'))
  expect([annes, helps]).not.toContain(service.session)
  await service.through(bob.agent.logout())
  const stored = Array.from({ length: tab.sessionStorage?.length ?? 0 }, (_, index) => tab.sessionStorage?.key(index))
  expect(stored.filter(key => key?.startsWith('aiagent_session_')).length).toBe(1)
  await open(service, tab)
  expect(service.session).toBe(helps)
})

verifies('OWN-33', 'no session is stored with the cache off or without resume', async service => {
  for (const config of [{ cache: { enabled: false } }, { resume: false }]) {
    const tab = newTab()
    const { agent } = await open(service, tab, config)
    const first = service.session
    await agent.destroy()
    await open(service, tab, config)
    expect(service.session).not.toBe(first)
  }
})
