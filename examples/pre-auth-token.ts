// An agent for signed-in users: the host supplies the token and a function that renews it.
import assert from 'node:assert/strict'
import { AiAgent } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

const service = await serveEmulator()
const signIn = () => service.emulator.control.issueToken({ subject: 'customer-7' })

// #region refused
const anonymous = new AiAgent({ id: 'account', endpoint: service.url, enableLogging: false })
await assert.rejects(anonymous.initialize(), { code: 'AUTH_ERROR', reason: 'interaction_required' })
await anonymous.destroy()
// #endregion

// #region token
let renewals = 0
const agent = new AiAgent({
  id: 'account',
  endpoint: service.url,
  auth: {
    type: 'pre-auth',
    accessToken: signIn(),
    refreshTokenFn: () => {
      renewals++
      return signIn()
    },
  },
})
// #endregion
await agent.initialize()
await agent.connect()

const answer = nextEvent(agent, 'agentMessage')
await agent.send('How do I reset my router?')
assert.match((await answer).message.content ?? '', /reset button/)
assert.equal(renewals, 0)

// #region renewal
const before = await agent.getAccessToken()
service.emulator.control.expireTokens()
const later = nextEvent(agent, 'agentMessage')
await agent.send('Where do I find my invoice?')
await later
assert.equal(renewals, 1)
assert.notEqual(await agent.getAccessToken(), before)
// #endregion

await agent.disconnect()
await service.close()
