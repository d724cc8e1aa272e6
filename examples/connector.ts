// The author of a connector: a script that connects an agent to the desk of a contact center, and the test of it.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { AiAgent } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'

// #region script
/** What the desk serves: it stores its component in a global, since a script tag has no exports. */
const CONNECTOR = `
globalThis.PlatformComponentService = {
  // The desk has signed its user in, and a call is open.
  async initPlatform(hook) {
    hook.setPlatformAuthenticated(true)
    hook.setConversationId('call-7')
    hook.setCallerInfo({ name: 'Caller', phone: '+1 202 555 0143' })
    hook.addToTranscript({ sender: 'customer', content: 'My router is offline.', timestamp: new Date() })
  },
  // Only the portals of this desk, and no choice where there is one.
  getPortalList: portals => portals.filter(portal => portal.name === 'Installation'),
  getDefaultPortal: portals => portals[0],
}`
// #endregion

const folder = await mkdtemp(join(tmpdir(), 'aiagent-connector-'))
const file = join(folder, 'connector.mjs')
await writeFile(file, CONNECTOR)
const service = await serveEmulator({ reply: ({ context }) => ({ content: JSON.stringify(context) }) })

// #region test
const agent = new AiAgent({
  id: 'desk',
  endpoint: service.url,
  auth: { type: 'pre-auth', accessToken: service.emulator.control.issueToken({ subject: 'desk-agent' }) },
  initParams: { platform: 'north-desk' },
  connector: { connectorUrl: pathToFileURL(file).href },
})
// No choice is left: the connector selects the portal, and it has one profile.
assert.equal((await agent.initialize()).status, 'ready')
assert.equal(agent.getConversationId(), 'call-7')
assert.equal(agent.getCallerInfo()?.name, 'Caller')
assert.deepEqual(
  agent.getCallTranscript().map(({ sender, content }) => `${sender}: ${content}`),
  ['customer: My router is offline.'],
)
await agent.connect()
// The portal that the connector selected reaches the agent.
assert.match((await agent.ask('Which desk is this?')).content ?? '', /"vendor_portal_id":\{"value":"1002"/)
// #endregion

await agent.destroy()
await service.close()
await rm(folder, { recursive: true })
