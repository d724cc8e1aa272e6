import {
  type AiAgentConfig,
  ApiError,
  AuthError,
  ConfigError,
  ConnectionError,
  type InitializationPipelineErrorCode,
  MessageError,
  SDKError,
  type SDKErrorCode,
} from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { verifies } from '../verifies.ts'
import type { Service } from '../wire.ts'

const errorOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    value => expect.unreachable(`Expected an error, got ${JSON.stringify(value)}.`),
    (error: unknown) => error,
  )

verifies('ERR-03', 'an AuthError carries its code, a reason and the cause', async service => {
  const signedIn = await errorOf(service.newAgent({ id: 'account' }).initialize())
  expect(signedIn).toBeInstanceOf(AuthError)
  expect(signedIn).toBeInstanceOf(SDKError)
  expect(signedIn).toMatchObject({
    name: 'AuthError',
    code: 'AUTH_ERROR' satisfies SDKErrorCode,
    reason: 'interaction_required',
  })

  const raw = await service.rawService(({ path }) => {
    if (path === paths.deploymentInfo())
      return { body: { apiDomain: raw.endpoint, aiAgentDomain: 'agent.example.test' } }
    return { body: '{', ending: 'broken' }
  })
  const failed = await errorOf(service.newAgent({ endpoint: raw.endpoint }, raw.environment).initialize())
  expect(failed).toBeInstanceOf(AuthError)
  expect(failed).toMatchObject({ code: 'AUTH_ERROR', reason: 'metadata_failed', cause: expect.any(Error) })
  expect(() => service.newAgent({ auth: { type: 'magic' } as unknown as AiAgentConfig['auth'] & object })).toThrow(
    expect.objectContaining({ code: 'AUTH_ERROR', reason: 'invalid_input' }),
  )
})

verifies('ERR-03', 'a ConnectionError carries its code, a reason and the close code', async service => {
  const agent = service.newAgent({ id: 'unreachable', maxReconnectAttempts: 0 })
  const journal = new Journal(agent)
  await agent.initialize()
  const refused = await errorOf(agent.connect())
  expect(refused).toBeInstanceOf(ConnectionError)
  expect(refused).toBeInstanceOf(SDKError)
  expect(refused).toMatchObject({
    name: 'ConnectionError',
    code: 'CONNECTION_ERROR' satisfies SDKErrorCode,
    reason: 'refused',
    closeCode: 1006,
  })
  expect(journal.of('error').map(({ error }) => (error as ConnectionError).reason)).toEqual([
    'refused',
    'attempts_used_up',
  ])
})

verifies('ERR-03', 'a MessageError carries its code, a reason, the id of the message and the cause', async service => {
  const agent = await service.connectedAgent()
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const unwritable = await errorOf(agent.send({ content: 'hello', messageId: 'mine', messageData: circle }))
  expect(unwritable).toBeInstanceOf(MessageError)
  expect(unwritable).toBeInstanceOf(SDKError)
  expect(unwritable).toMatchObject({
    name: 'MessageError',
    code: 'MESSAGE_ERROR' satisfies SDKErrorCode,
    reason: 'encoding_failed',
    messageId: 'mine',
    cause: expect.any(Error),
  })
  expect(await errorOf(agent.send({ persona: '', content: 'hello' }))).toMatchObject({
    code: 'MESSAGE_ERROR',
    reason: 'invalid',
  })

  const journal = new Journal(agent)
  service.control.pushFrame(service.session, 'no frame')
  await eventually(() => journal.of('error').length)
  const unreadable = journal.of('error')[0]?.error
  expect(unreadable).toBeInstanceOf(MessageError)
  expect(unreadable).toMatchObject({ code: 'MESSAGE_ERROR', reason: 'unreadable', cause: { name: 'ProtocolError' } })
})

verifies('ERR-03', 'each code of a failing conversation occurs, and each error is an SDKError', async service => {
  const agent = service.newAgent()
  const aborted = new AbortController()
  aborted.abort(new Error('no longer needed'))
  const arisen: unknown[] = [
    await errorOf(agent.connect()),
    await errorOf(agent.initialize({ signal: aborted.signal })),
    await errorOf(service.newAgent({ id: 'unknown' }).initialize()),
    await errorOf(service.newAgent({ id: 'account' }).initialize()),
    await errorOf(agent.send({ persona: '' })),
    await errorOf(sessionOf(service, { lifeSeconds: 100 })),
  ]
  for (const config of [{ endpoint: 'ftp://x' }, { sessionId: 'undefined' }]) {
    try {
      service.newAgent(config)
    } catch (error) {
      arisen.push(error)
    }
  }
  const unreachable = service.newAgent({ id: 'unreachable', maxReconnectAttempts: 0 })
  await unreachable.initialize()
  arisen.push(await errorOf(unreachable.connect()))

  for (const error of arisen) expect(error).toBeInstanceOf(SDKError)
  const codes = {
    ABORTED: 0,
    API_ERROR: 0,
    AUTH_ERROR: 0,
    CONFIG_INVALID: 0,
    CONNECTION_ERROR: 0,
    MESSAGE_ERROR: 0,
    NOT_INITIALIZED: 0,
    SESSION_ID_INVALID: 0,
    SESSION_UNAUTHORIZED: 0,
  } satisfies Record<
    Exclude<SDKErrorCode, InitializationPipelineErrorCode | 'CONNECTOR_FAILED' | 'MODULE_LOAD_FAILED'>,
    0
  >
  expect(new Set(arisen.map(error => (error as SDKError).code))).toEqual(new Set(Object.keys(codes)))
  expect(arisen[1]).toMatchObject({ code: 'ABORTED', cause: aborted.signal.reason })
  expect(arisen.some(error => error instanceof ConfigError && error.field === 'endpoint')).toBe(true)
})

/** Initializes an agent with a user token of this lifetime. */
function sessionOf(service: Service, { lifeSeconds }: { lifeSeconds: number }): Promise<unknown> {
  const accessToken = service.control.issueToken({ lifeSeconds })
  return service.newAgent({ id: 'account', auth: { type: 'pre-auth', accessToken } }).initialize()
}

verifies('ERR-04', 'a 401 at session creation has its own code', async service => {
  const error = await errorOf(sessionOf(service, { lifeSeconds: 200 }))
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({
    code: 'SESSION_UNAUTHORIZED',
    status: 401,
    path: paths.session('account'),
    message: expect.stringContaining('Token will expire soon'),
  })
})

verifies(
  'ERR-04',
  'a 401 of another call, and another failure of the session call, have another code',
  async service => {
    const agent = service.newAgent({ auth: { type: 'pre-auth', accessToken: 'not.of.this.service' } })
    expect(await errorOf(agent.initialize())).toMatchObject({ code: 'API_ERROR', status: 401 })

    for (const status of [400, 403, 500]) {
      const raw = await service.rawService(({ path }) => {
        if (path === paths.deploymentInfo())
          return { body: { apiDomain: raw.endpoint, aiAgentDomain: 'agent.example.test' } }
        return path === paths.session('help') ? { status, body: { message: 'no' } } : { body: { agentId: 'help' } }
      })
      const auth = { type: 'pre-auth', accessToken: service.control.issueToken() } as const
      const error = await errorOf(service.newAgent({ endpoint: raw.endpoint, auth }, raw.environment).initialize())
      expect(error).toMatchObject({ code: 'API_ERROR', status })
    }
  },
)

verifies('ERR-04', 'a rejected session id has its own code, from every source', async service => {
  const invalid = { code: 'SESSION_ID_INVALID' satisfies SDKErrorCode }
  expect(() => service.newAgent({ sessionId: ' ' })).toThrow(expect.objectContaining(invalid))
  const agent = await service.connectedAgent()
  expect(() => agent.setSessionId('null')).toThrow(expect.objectContaining(invalid))
  expect(await errorOf(agent.restartConnection({ sessionId: 'undefined' }))).toMatchObject(invalid)
  const raw = await service.rawService(({ path }) => {
    if (path === paths.deploymentInfo())
      return { body: { apiDomain: raw.endpoint, aiAgentDomain: 'agent.example.test' } }
    return { body: path === paths.session('help') ? { sessionId: '' } : { agentId: 'help' } }
  })
  const auth = { type: 'pre-auth', accessToken: service.control.issueToken() } as const
  const answered = await errorOf(service.newAgent({ endpoint: raw.endpoint, auth }, raw.environment).initialize())
  expect(answered).toMatchObject(invalid)
  expect(answered).not.toBeInstanceOf(ApiError)
})
