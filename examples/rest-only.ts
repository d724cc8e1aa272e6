// REST calls without a conversation.
import assert from 'node:assert/strict'
import { ApiError, ApiHelper, AuthenticationService } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'

const service = await serveEmulator()

// #region calls
const deploymentInfo = await ApiHelper.getDeploymentInfo(service.url)
const authentication = new AuthenticationService()
await authentication.initialize({ deploymentInfo })

const api = new ApiHelper({ apiDomain: deploymentInfo.apiDomain, getToken: () => authentication.getToken() })
const details = await api.getAgentDetails({ agentId: 'help' })
const sessionId = await api.getAiAgentSession({ agentId: 'help', context: { page: 'the basket' } })
assert.equal(details.name, 'Help Centre')
assert.deepEqual(service.emulator.world.sessions.get(sessionId)?.context, { page: 'the basket' })
// #endregion

// #region failure
const error = await api.getAgentDetails({ agentId: 'halp' }).catch(caught => caught)
assert(error instanceof ApiError)
assert.equal(error.status, 404)
assert.equal(error.reason, 'status')
assert.equal(error.path, '/core/aiservices/v4/aiagent/details/agent/halp')
// #endregion

await authentication.cleanup()
await service.close()
