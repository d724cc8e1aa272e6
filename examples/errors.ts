// Telling failures apart by class, code and reason, and aborting a call.
import assert from 'node:assert/strict'
import { AiAgent, ApiError, AuthError, ConnectionError, MessageError, SDKError } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'

const service = await serveEmulator()

// #region decide
/** What to show the user, or `undefined` if the agent recovers without help. */
function advice(error: unknown): string | undefined {
  if (error instanceof ConnectionError) return error.reason === 'attempts_used_up' ? 'Try again later.' : undefined
  if (error instanceof MessageError)
    return error.reason === 'queue_full' ? 'Wait until you are online.' : 'Write it again.'
  const isTokenRefused = error instanceof AuthError || (error instanceof ApiError && error.status === 401)
  if (isTokenRefused) return 'Sign in again.'
  if (error instanceof ApiError) return error.status === 404 ? 'There is no such agent.' : 'The service has a problem.'
  if (error instanceof SDKError && error.code === 'ABORTED') return undefined
  throw error
}
// #endregion

// #region unknown-agent
const misspelled = new AiAgent({ id: 'halp', endpoint: service.url })
const error = await misspelled.initialize().catch(caught => caught)
assert(error instanceof ApiError)
assert.equal(error.status, 404)
assert.equal(advice(error), 'There is no such agent.')
// #endregion

// Every refused token is an ApiError with status 401: an expired one, and one that lives too short for a session.
for (const lifeS of [-60, 240]) {
  const accessToken = service.emulator.control.issueToken({ subject: 'customer', lifeSeconds: lifeS })
  const refused = new AiAgent({ id: 'account', endpoint: service.url, auth: { type: 'pre-auth', accessToken } })
  assert.equal(advice(await refused.initialize().catch(caught => caught)), 'Sign in again.')
  await refused.destroy()
}

// #region config
assert.throws(() => new AiAgent({ id: '', endpoint: service.url }), { code: 'CONFIG_INVALID', field: 'id' })
// #endregion

// #region give-up
const agent = new AiAgent({ id: 'help', endpoint: service.url })
const controller = new AbortController()
const starting = agent.initialize({ signal: controller.signal })
controller.abort()
await assert.rejects(starting, { code: 'ABORTED' })

await agent.initialize()
// #endregion

// #region listen
agent.on('error', ({ payload }) => console.log(payload.error.code, payload.error.message))
// #endregion

await agent.destroy()
await misspelled.destroy()
await service.close()
