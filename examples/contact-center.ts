// A contact-center agent: portal and profile are chosen by events, and the platform's connector reports a call.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { AiAgent } from '@aiagent/client'
import { CONNECTOR_SCRIPT } from '@aiagent/emulator'
import { serveEmulator } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

const service = await serveEmulator()
const accessToken = service.emulator.control.issueToken({ subject: 'desk-agent' })

// A page loads a connector script from its address; here it is imported from a file.
const folder = await mkdtemp(join(tmpdir(), 'aiagent-example-'))
const script = join(folder, 'connector.mjs')
await writeFile(script, CONNECTOR_SCRIPT)

// #region agent
const agent = new AiAgent({
  id: 'desk',
  endpoint: service.url,
  auth: { type: 'pre-auth', accessToken },
  initParams: { platform: 'test' },
  connector: { connectorUrl: pathToFileURL(script).href },
})
// #endregion

// #region call
const said: string[] = []
agent.on('callerInfoUpdate', ({ payload }) => said.push(`${payload.callerInfo?.name} calls`))
agent.on('callTranscriptUpdate', ({ payload: { entry } }) => said.push(`${entry?.sender}: ${entry?.content}`))
// #endregion

// #region choose
const portalsOffered = nextEvent(agent, 'portalsAvailable')
await agent.initialize()
assert.equal(agent.getIsInitialized(), false)
const { portals } = await portalsOffered
assert.deepEqual(
  portals.map(({ name }) => name),
  ['Support', 'Installation', 'Invoices'],
)

const profilesOffered = nextEvent(agent, 'profilesAvailable')
await agent.selectPortal({ id: 1101 })
const { profiles, selectedPortal } = await profilesOffered
assert.equal(selectedPortal.name, 'Invoices')

const ready = nextEvent(agent, 'initialized')
await agent.selectUserProfile(profiles[0] ?? { id: 'none' })
assert.equal((await ready).profile?.name, 'Private')
await agent.connect()
// #endregion

const answer = nextEvent(agent, 'agentMessage')
await agent.send('How do I reset my router?')
assert.match((await answer).message.content ?? '', /reset button/)

// #region facts
assert.equal(agent.getConversationId(), 'call-1001')
assert.equal(agent.getCallerInfo()?.name, 'Customer')
assert.equal(agent.getCallTranscript().length, 3)
assert.deepEqual(said.slice(0, 2), ['Customer calls', 'agent: Good day, this is the service desk. How can I help?'])
// #endregion

// #region refused
await assert.rejects(agent.selectPortal({ id: 9999 }), { code: 'INVALID_SELECTION', stage: 'portal' })
assert.equal(agent.isConnected(), true)
// #endregion

// #region switch
const again = nextEvent(agent, 'initialized')
await agent.selectPortal({ id: 1002 })
const { portal, profile, availablePortals = [] } = await again
assert.deepEqual([portal?.id, profile?.name, availablePortals.length], [1002, 'Technician', 3])
// #endregion

await agent.destroy()
await service.close()
await rm(folder, { recursive: true })
