import { CHAT_QUERY, paths } from '@aiagent/protocol'
import { WebSocket } from 'ws'
import { DESK, DESK_CONTEXT } from '../desk-records.ts'

/** The chain of calls at a desk that need each other's answers, with nothing but `fetch` and `ws`. */
export async function connectBareDesk(endpoint: string, token: string, onReady: () => void): Promise<void> {
  const { agentId, portalId, profileId } = DESK
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const call = async (address: string, init: RequestInit = {}) =>
    (await (await fetch(address, { headers, ...init })).json()) as Answer
  const { apiDomain } = await call(endpoint + paths.deploymentInfo())
  const { webSocketDomain } = await call(apiDomain + paths.agentDetails(agentId))
  await call(apiDomain + paths.myPortals())
  await call(apiDomain + paths.userProfiles(portalId))
  await call(apiDomain + paths.selectUserProfile(portalId, profileId), { method: 'PUT', body: '{}' })
  onReady()
  const body = JSON.stringify({ context: DESK_CONTEXT })
  const { sessionId } = await call(apiDomain + paths.session(agentId), { method: 'POST', body })
  const socket = new WebSocket(`${webSocketDomain}/?${CHAT_QUERY.SESSION_ID}=${sessionId}`, {
    perMessageDeflate: false,
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
}

/** The members of all answers of the service: the bare side checks nothing. */
interface Answer {
  apiDomain: string
  webSocketDomain: string
  sessionId: string
}
