import { CHAT_QUERY, PERSONA, paths, ROLE } from '@aiagent/protocol'
import { WebSocket } from 'ws'

/** Opens the chat as the library does, call by call, with nothing but `fetch` and `ws`. */
export async function connectBare(endpoint: string): Promise<WebSocket> {
  const deployment = await call(endpoint + paths.deploymentInfo())
  const metadata = await call(deployment.apiDomain + paths.metadataOfDeployment())
  const { access_token: token } = await call(metadata.authenticationDetails.oAuthAnonymousCustomer[0].accessTokenURL, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'client_id=clientId&client_secret=clientSecret&grant_type=client_credentials',
  })
  const headers = { Authorization: `Bearer ${token}` }
  const agent = await call(deployment.apiDomain + paths.agentDetails('help'), { headers })
  return openBareSession(deployment.apiDomain, agent.webSocketDomain, token)
}

/** What every further chat of the process costs: a session and a socket. */
export async function openBareSession(apiDomain: string, chatDomain: string, token: string): Promise<WebSocket> {
  const { sessionId } = await call(apiDomain + paths.session('help'), {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: '{}',
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

async function call(address: string, init?: RequestInit): Promise<Answer> {
  return (await (await fetch(address, init)).json()) as Answer
}
