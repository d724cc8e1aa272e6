// Ways to obtain a token without a page: anonymous, client credentials, and from the host.
import assert from 'node:assert/strict'
import { AiAgent, type AuthStrategy } from '@aiagent/client'
import { tokenPaths } from '@aiagent/emulator'
import { serveEmulator } from '@aiagent/emulator/node'

const service = await serveEmulator()
const endpoint = service.url
const fetchToken = async () => service.emulator.control.issueToken({ subject: 'customer' })

// #region anonymous
const anonymous = new AiAgent({ id: 'help', endpoint })
await anonymous.initialize()
// #endregion

// #region scopes
const narrow = new AiAgent({ id: 'help', endpoint, initParams: { scopes: 'core.aiservices.read' } })
await narrow.initialize()
assert.match(readClaims(await narrow.getAccessToken()).scope ?? '', /core[.]aiservices[.]read$/) // with the deployment's prefix
// #endregion

// #region client-credentials
const program = new AiAgent({
  id: 'account',
  endpoint,
  auth: {
    type: 'client-credentials',
    config: {
      tokenUrl: endpoint + tokenPaths.clientCredentials('TEN0001'),
      clientId: 'demo-service',
      clientSecret: 'demo-secret',
    },
  },
})
await program.initialize()
// #endregion

// #region provider
const provided = new AiAgent({ id: 'account', endpoint, auth: { getToken: () => fetchToken() } })
await provided.initialize()
// #endregion

// #region strategy
const strategy: AuthStrategy = {
  initialize: ({ deploymentInfo }) => console.log('Tenant of the tokens:', deploymentInfo.tenantId),
  updateScopes: scopes => console.log('Required scopes:', scopes),
  authenticate: async () => {},
  getToken: () => fetchToken(),
  refresh: () => fetchToken(),
}
const strategic = new AiAgent({ id: 'account', endpoint, auth: strategy })
await strategic.initialize()
// #endregion

// #region update
strategic.on('tokenExpiring', async () => {
  await strategic.updateAccessToken(await fetchToken())
})
// #endregion
await strategic.updateAccessToken(await fetchToken())

await Promise.all([anonymous, narrow, program, provided, strategic].map(agent => agent.destroy()))
await service.close()

function readClaims(token: string | null): { scope?: string } {
  return JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString())
}
