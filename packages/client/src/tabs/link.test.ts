import { turnEventLoop } from '@aiagent/test-support'
import { createConversationView } from '@aiagent/view'
import { expect, it } from 'vitest'
import { CAPABILITIES, linesOf, setUpTabs } from '../../test/set-up-tabs.ts'

const settings = { heartbeatBeforeReply: false, capabilities: [...CAPABILITIES] }

/** A leader, a follower, and a third tab whose messages a test writes. */
async function setUpLink() {
  const tabs = setUpTabs({ settings })
  const [one, two] = [await tabs.connected(), await tabs.connected()]
  const guest = tabs.scripted('guest')
  await guest.post({ kind: 'hello', isNew: false })
  const [{ from, ...state } = { kind: '', fence: 0 }] = guest.heard('state')
  await guest.post({ kind: 'sync', nonce: 1 })
  const [follower] = guest.heard('synced').filter(({ from: tab }) => tab !== from)
  const sessionId = String(one.agent.getSessionId())
  return { ...tabs, one, two, guest, sessionId, state, leaderId: String(from), followerId: String(follower?.from) }
}

/** The third tab leads, as the follower is told, and has opened its socket. */
async function setUpLeadingGuest() {
  const tabs = await setUpLink()
  const { guest, two, state, followerId } = tabs
  const tell = (message: object) => guest.post(message, { to: followerId })
  await tell({ ...state, fence: Number(state['fence']) + 1_000_000 })
  await tabs.clock.advance(10)
  const socket = Number(guest.heard('open').at(-1)?.['socket'])
  expect(two.agent.isConnected()).toBe(false)
  const frame = (content: string) =>
    tell({ kind: 'frame', text: JSON.stringify({ persona: 'agent', role: 'support', content }) })
  return { ...tabs, tell, socket, frame }
}

it('[REL-69] a tab that has heard of no other one posts nothing that a tab is told when it joins', async () => {
  const { connected, clock, scripted } = setUpTabs({ settings })
  const one = await connected()
  const guest = scripted('guest')
  const view = createConversationView(one.agent)
  await view.start()
  const say = async (text: string) => {
    await one.agent.setContext({ text })
    await one.agent.send(text)
    await clock.advance(1_000)
    view.markRead()
    await turnEventLoop()
  }
  const told = () => ['said', 'delivery', 'frame', 'read', 'context'].filter(kind => guest.heard(kind).length > 0)
  await say('alone')
  expect(linesOf(one)).toEqual(['sent alone', 'received You said: alone'])
  expect(told()).toEqual([])
  await guest.post({ kind: 'hello', isNew: false })
  await say('together')
  expect(told()).toEqual(['said', 'delivery', 'frame', 'read', 'context'])
})

it('[REL-63] a follower that hears its leader greets the others each five seconds', async () => {
  const { clock, emulator, guest, sessionId } = await setUpLink()
  const before = guest.heard('hello').length
  for (let second = 0; second < 10; second++) {
    emulator.control.pushFrame(sessionId, '{}')
    await clock.advance(1_000)
  }
  expect(guest.heard('hello').slice(before)).toMatchObject([{ isNew: false }, { isNew: false }])
})

it('[REL-63] a follower takes the lock from a frozen leader also while it sends, and hears others', async () => {
  const { browser, clock, guest, one, two } = await setUpLink()
  one.tab.freeze()
  for (let second = 0; second < 5; second++) {
    await guest.post({ kind: 'hello', isNew: false })
    void two.agent.send('again')
    await clock.advance(1_000)
  }
  expect(browser.locks.leader).toBe(two.tab)
})

it('[REL-155] all tabs, or the leader, say that they have passed on everything', async () => {
  const { guest, leaderId, followerId, one } = await setUpLink()
  const answers = () => guest.heard('synced').map(({ from, nonce }) => [from, nonce])
  expect(answers().sort()).toEqual(
    [
      [leaderId, 1],
      [followerId, 1],
    ].sort(),
  )
  await guest.post({ kind: 'sync', nonce: 2 }, { to: followerId })
  await guest.post({ kind: 'sync', nonce: 3 }, { to: leaderId })
  expect(answers().slice(2)).toEqual([[leaderId, 3]])
  // Nobody has asked.
  await guest.post({ kind: 'synced', nonce: 99 })
  expect(one.agent.isConnected()).toBe(true)
})

it('[REL-63] a leader keeps its socket when it is told its own number', async () => {
  const { browser, clock, guest, state, leaderId } = await setUpLink()
  const before = [browser.sockets, guest.heard('state').length]
  await guest.post(state, { to: leaderId })
  await clock.advance(100)
  expect([browser.sockets, guest.heard('state').length]).toEqual(before)
})

it('[REL-62] a follower has no connection once its leader has left', async () => {
  const { two, tell, socket, frame } = await setUpLeadingGuest()
  let connections = 0
  two.agent.on('connected', () => void connections++)
  await frame('before the socket is open')
  await tell({ kind: 'opened', socket: 99 })
  await tell({ kind: 'opened', socket })
  await tell({ kind: 'opened', socket })
  expect(two.agent.isConnected()).toBe(true)
  await frame('to the open socket')
  expect(linesOf(two)).toEqual(['received to the open socket'])
  await tell({ kind: 'bye' })
  expect(two.agent.isConnected()).toBe(false)
  expect(connections).toBe(1)
})

it('[REL-62] a follower learns how its socket was closed, and nothing of another socket', async () => {
  const { two, tell, socket } = await setUpLeadingGuest()
  const closes: unknown[] = []
  two.agent.on('closed', ({ payload }) => void closes.push(payload))
  await tell({ kind: 'opened', socket })
  await tell({ kind: 'closed', socket: 99, code: 1000, reason: 'another' })
  expect(two.agent.isConnected()).toBe(true)
  await tell({ kind: 'closed', socket, code: 4321, reason: 'The end.' })
  expect(two.agent.isConnected()).toBe(false)
  await tell({ kind: 'closed', code: 4321, reason: 'again' })
  expect(closes).toMatchObject([{ code: 4321, reason: 'The end.' }])
})

it('[REL-155] a follower that has missed something of its leader opens its socket again, with a history', async () => {
  const { clock, emulator, guest, two, tell, socket, sessionId } = await setUpLeadingGuest()
  const histories = () =>
    emulator.control.requests().filter(({ path }) => path.endsWith(`/sessions/${sessionId}`)).length
  await tell({ kind: 'opened', socket })
  await tell({ kind: 'frame', text: JSON.stringify({ persona: 'agent', role: 'support', content: 'Hello', seq: 1 }) })
  const before = [guest.heard('open').length, histories()] as const
  guest.skip()
  await tell({ kind: 'synced', nonce: 0 })
  await clock.advance(100)
  expect(guest.heard('close')).toMatchObject([{ socket }])
  const [{ socket: next } = { socket: 0 }, ...others] = guest.heard('open').slice(before[0])
  expect(others).toEqual([])
  expect(two.agent.isConnected()).toBe(false)
  await tell({ kind: 'opened', socket: next })
  await clock.advance(1_500)
  expect(two.agent.isConnected()).toBe(true)
  expect(histories()).toBe(before[1] + 1)
})

it.each(['hide', 'close'] as const)('[REL-62] the others are told at once of a page that is left (%s)', async how => {
  const { guest, two, followerId } = await setUpLink()
  two.tab[how]()
  await turnEventLoop()
  expect(guest.heard('bye')).toMatchObject([{ from: followerId }])
})

it('[REL-63] a page that is shown, or comes back while it is alone, stays as it is', async () => {
  const { browser, connected, made } = setUpTabs({ settings })
  const one = await connected()
  const window = one.tab.environment.page?.window as unknown as EventTarget
  window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: false }))
  await turnEventLoop()
  expect(one.agent.isConnected()).toBe(true)
  expect(browser.sockets).toBe(1)
  const alone = made()
  alone.tab.hide()
  alone.tab.show()
  await alone.agent.initialize()
  await alone.agent.connect()
  expect(alone.agent.isConnected()).toBe(true)
})

it('[REL-62] a tab that is destroyed while it joins leads no other one', async () => {
  const { browser, connected, made } = setUpTabs({ settings })
  const { agent, tab } = made()
  const request = browser.locks.request.bind(browser.locks)
  browser.locks.request = (owner, name, ...rest) => {
    if (owner === tab && name.includes('-tab-')) void agent.destroy()
    return request(owner, name, ...rest)
  }
  await agent.initialize().catch(() => {})
  await agent.connect().catch(() => {})
  const next = await connected()
  expect(browser.locks.leader).toBe(next.tab)
})

it('[REL-143] a tab that is alone goes on with a higher number when the service refuses its own', async () => {
  const { clock, connected, emulator, passUntil } = setUpTabs({ settings })
  const one = await connected()
  const [session] = emulator.world.sessions.values()
  const fence = clock.now() + 60_000
  Object.assign(session ?? {}, { fence })
  const codes: number[] = []
  one.agent.on('closed', ({ payload: { code } }) => void codes.push(code))
  emulator.control.dropSockets()
  await one.agent.send('still here?')
  await passUntil(() => linesOf(one).includes('received You said: still here?'), 'the answer')
  expect(session?.fence).toBe(fence + 1)
  expect(codes).toEqual([1006, 1006])
})

it('[REL-62] a tab that was frozen goes on when the service has closed its socket for that of another leader', async () => {
  const { browser, emulator, one, two, passUntil } = await setUpLink()
  one.tab.freeze()
  emulator.control.dropSockets(1000)
  await passUntil(() => browser.locks.leader === two.tab && two.agent.isConnected(), 'another leader')
  one.tab.thaw()
  await passUntil(() => one.agent.isConnected(), 'the connection')
  expect(browser.locks.leader).toBe(two.tab)
  // It leads again when that one ends.
  two.tab.crash()
  await passUntil(() => browser.locks.leader === one.tab && one.agent.isConnected(), 'the first leader')
})

it('[REL-66] a leader that cannot create a session lets another tab try after ten seconds', async () => {
  const { browser, clock, emulator, made, scripted } = setUpTabs({ settings })
  await clock.advance(60_000)
  emulator.faults.add({ kind: 'hang-request', route: 'POST *session' })
  const { agent, tab } = made()
  void agent
    .initialize()
    .then(() => agent.connect())
    .catch(() => {})
  await clock.advance(5_000)
  expect(browser.locks.leader).toBe(tab)
  const guest = scripted('guest')
  await guest.post({ kind: 'hello', isNew: true })
  expect(guest.heard('state')).toHaveLength(1)
  expect(guest.heard('bye')).toEqual([])
  await clock.advance(6_000)
  await guest.post({ kind: 'hello', isNew: true })
  expect(guest.heard('bye')).toHaveLength(1)
})

it('[REL-66] a tab keeps its session, its socket and what it shows when another one names the same session', async () => {
  const { browser, clock, guest, one, two, sessionId, passUntil } = await setUpLink()
  await one.agent.send('Hello')
  await passUntil(() => linesOf(two).length === 2, 'the answer')
  const { sockets } = browser
  await guest.post({ kind: 'session', sessionId, conversation: 'another' })
  await guest.post({ kind: 'taken', sessionId: 'another', nonce: 1 })
  await clock.advance(100)
  await one.agent.send('again')
  await passUntil(() => linesOf(two).length === 4, 'the next answer')
  expect(browser.sockets).toBe(sockets)
  for (const tab of [one, two]) {
    expect(linesOf(tab)).toHaveLength(4)
    expect(tab.agent.isConnected()).toBe(true)
    expect(tab.agent.getSessionId()).toBe(sessionId)
  }
})

it('[REL-66] the leader names the session into which a tab moves', async () => {
  const { guest } = await setUpLink()
  await guest.post({ kind: 'session', sessionId: 'another', conversation: 'another' })
  expect(guest.heard('state').map(({ sessionId }) => sessionId)).toContain('another')
})

it('[SEC-61] a tab whose browser allows no storage does not return to a session that was taken', async () => {
  const { browser, connected, scripted, passUntil } = setUpTabs({ settings })
  const tab = browser.open()
  tab.localStorage.full = true
  const one = await connected({}, tab)
  const sessionId = String(one.agent.getSessionId())
  const guest = scripted('guest')
  await guest.post({ kind: 'taken', sessionId, nonce: 1 })
  await guest.post({ kind: 'session', sessionId, conversation: sessionId })
  await guest.post({ kind: 'known', sessionId })
  await one.agent.send('Hello')
  await passUntil(() => linesOf(one).length === 2, 'the answer')
  expect(one.agent.getSessionId()).not.toBe(sessionId)
})

it('[REL-66] a tab that is opened while the leader renews a forgotten session waits for the new one', async () => {
  const { clock, connected, emulator, made, passUntil } = setUpTabs({ settings })
  const one = await connected({ resume: true })
  emulator.faults.add({ kind: 'delay-requests', route: 'POST *session', ms: 2_000 })
  emulator.control.forgetSession(String(one.agent.getSessionId()))
  await clock.advance(1_000)
  const two = made({ resume: true })
  void two.agent.initialize().then(() => two.agent.connect())
  await passUntil(() => [one, two].every(({ agent }) => agent.isConnected()), 'the connections')
  const posts = emulator.control.requests().filter(({ method, path }) => method === 'POST' && path.endsWith('/session'))
  expect(posts).toHaveLength(2)
})

it('[REL-156] a tab that has missed a sign-out shows nothing that it receives after it', async () => {
  const { clock, guest, one, two } = await setUpLink()
  two.tab.freeze({ isDeaf: true })
  await one.agent.logout()
  await turnEventLoop()
  two.tab.thaw()
  const message = { id: 'late', persona: 'customer', role: 'human', content: 'Hello', timestamp: clock.now() }
  await guest.post({ kind: 'said', message })
  expect(two.agent.getIsInitialized()).toBe(false)
  expect(linesOf(two)).toEqual([])
})

it('[REL-155] the end of a tab is dealt with once', async () => {
  const { clock, guest, leaderId, scripted } = await setUpLink()
  const other = scripted('other')
  await other.post({ kind: 'hello', isNew: false })
  const recalls = () => guest.heard('recall').filter(({ from }) => from === leaderId).length
  const before = recalls()
  other.tab.crash()
  await clock.advance(2_000)
  const after = recalls()
  expect(after).toBeGreaterThan(before)
  await clock.advance(5_000)
  expect(recalls()).toBe(after)
})

it('[SEC-61] a burst of messages looks once whether its session was taken', async () => {
  const { clock, one } = await setUpLink()
  await clock.advance(600)
  const { localStorage } = one.tab
  const getItem = localStorage.getItem.bind(localStorage)
  let reads = 0
  localStorage.getItem = key => {
    reads++
    return getItem(key)
  }
  for (let i = 0; i < 10; i++) await one.agent.send('Hello')
  expect(reads).toBe(1)
})

it('[REL-69] a tab whose browser refuses its messages to the others goes on alone, and logs it', async () => {
  const { one, passUntil } = await setUpLink()
  const logged: unknown[] = []
  one.agent.logger.on('log', entry => void logged.push(entry))
  const error = new DOMException('The message could not be cloned.', 'DataCloneError')
  for (const channel of one.tab.channels)
    channel.postMessage = () => {
      throw error
    }
  await one.agent.send('Hello')
  await passUntil(() => linesOf(one).length === 2, 'the answer')
  const message = 'A message to the other tabs could not be posted.'
  expect(logged).toContainEqual(expect.objectContaining({ message, context: expect.objectContaining({ error }) }))
})
