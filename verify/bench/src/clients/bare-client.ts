import { CHAT_QUERY, PERSONA, paths, ROLE, SCOPE } from '@aiagent/protocol'
import { WebSocket } from 'ws'
import { DESK, DESK_CONTEXT } from '../desk-records.ts'

/*
 * The calls of a start that the protocol demands, each with the last answer that it needs, with nothing but `fetch` and `ws`.
 * The order is that of `order-of-requests.test.ts`.
 */

/** A direct start with an anonymous token, whose scopes are final only when the agent is known. */
export async function connectBare(endpoint: string): Promise<WebSocket> {
  const { apiDomain } = await call(endpoint + paths.deploymentInfo())
  const { authenticationDetails } = await call(apiDomain + paths.metadataOfDeployment())
  const [{ accessTokenURL }] = authenticationDetails.oAuthAnonymousCustomer
  const scopes: string[] = [SCOPE.PORTAL_MANAGER, SCOPE.AI_SERVICES]
  const first = await fetchToken(accessTokenURL, scopes)
  const { webSocketDomain } = await call(apiDomain + paths.agentDetails('help'), authorized(first))
  const token = await fetchToken(accessTokenURL, [...scopes, SCOPE.CUSTOMER_MANAGER])
  return openBareSession(apiDomain, webSocketDomain, token)
}

/** A start in a contact center with the token of a user. Portal and profile are known in advance. */
export async function connectBareDesk(endpoint: string, token: string): Promise<WebSocket> {
  const { agentId, portalId, profileId } = DESK
  const { apiDomain } = await call(endpoint + paths.deploymentInfo())
  const load = (path: string, init?: RequestInit) => call(apiDomain + path, { ...authorized(token), ...init })
  const { webSocketDomain } = await load(paths.agentDetails(agentId))
  await Promise.all([load(paths.userDetails()), load(paths.myPortals())])
  await Promise.all([load(paths.portalDetails(portalId)), load(paths.userProfiles(portalId))])
  await load(paths.selectUserProfile(portalId, profileId), { method: 'PUT' })
  const socket = await openBareSession(apiDomain, webSocketDomain, token, agentId, { context: DESK_CONTEXT })
  socket.send(JSON.stringify({ persona: PERSONA.METADATA, role: ROLE.TOKEN, messageData: { token } }))
  return socket
}

/** What every further chat of the process costs: a session and a socket. */
export async function openBareSession(
  apiDomain: string,
  chatDomain: string,
  token: string,
  agentId = 'help',
  body: object = {},
): Promise<WebSocket> {
  const { sessionId } = await call(apiDomain + paths.session(agentId), {
    method: 'POST',
    ...authorized(token),
    body: JSON.stringify(body),
  })
  const socket = new WebSocket(`${chatDomain}/?${CHAT_QUERY.SESSION_ID}=${sessionId}`, { perMessageDeflate: false })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  return socket
}

/** Sends as a host would write it: JSON, and a promise that says the message was taken. */
export async function sendBare(socket: { send(data: string): void }, content: string): Promise<void> {
  socket.send(JSON.stringify({ persona: PERSONA.CUSTOMER, role: ROLE.HUMAN, content }))
}

/** The members of all answers of the service: the bare side checks nothing. */
interface Answer {
  apiDomain: string
  authenticationDetails: { oAuthAnonymousCustomer: [{ accessTokenURL: string }] }
  access_token: string
  webSocketDomain: string
  sessionId: string
}

const authorized = (token: string) => ({
  headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
})

async function fetchToken(address: string, scopes: readonly string[]): Promise<string> {
  const grant = { client_id: 'clientId', client_secret: 'clientSecret', grant_type: 'client_credentials' }
  const body = new URLSearchParams({ ...grant, scope: scopes.join(' ') })
  return (await call(address, { method: 'POST', body })).access_token
}

async function call(address: string, init?: RequestInit): Promise<Answer> {
  return (await (await fetch(address, init)).json()) as Answer
}
