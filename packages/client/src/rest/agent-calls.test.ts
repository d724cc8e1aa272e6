import { describe, expect, it } from 'vitest'
import { failure, setUpApi, TOKEN } from '../../test/api-set-up.ts'

const MASKING = '/core/securitymgr/v4/departments/9/maskingpatterns/chat'
const APPS = '/ai-agent-cc-connector/v1/tenants/T1/agents/7/apps'
const TRANSCRIPT = '/core/aiservices/v4/aiagent/details/department/1000/agent/7/conversations/sessions/S1'

describe('getMaskingPatterns', () => {
  const rules = { patterns: [{ name: 'Card', javascriptRegularExpression: '\\d{16}' }], configuration: {} }

  it('[REST-12] [REST-05] loads the rules of the chat in the language that is set, and caches them', async () => {
    const { service, api } = setUpApi({ language: 'nl-NL' })
    service.on(`GET ${MASKING}`, rules)
    expect(await api.getMaskingPatterns({ departmentId: 9 })).toEqual(rules)
    expect(await api.getMaskingPatterns({ departmentId: '9', channel: 'chat' })).toEqual(rules)
    expect(service.seen).toHaveLength(1)
    expect(service.seen[0]?.url).toMatch(/[?]%24lang=nl-nl$/)
    expect(service.seen[0]?.headers.get('accept-language')).toBe('nl-nl')
    expect(service.seen[0]?.credentials).toBeUndefined()
  })

  it('[REST-12] rejects when they cannot be loaded, and requests another channel by its name', async () => {
    const { service, api } = setUpApi()
    expect(await failure(api.getMaskingPatterns({ departmentId: 9, channel: 'mail' }))).toMatchObject({ status: 404 })
    expect(service.seen[0]?.path).toBe(MASKING.replace('chat', 'mail'))
  })
})

describe('getConnectedApps', () => {
  it.each([[[{ app: 1 }]], [{ apps: [] }], ['text'], [0], [null]])(
    '[REST-12] returns any JSON, without any header: %j',
    async answer => {
      const { service, api } = setUpApi({ getToken: undefined })
      service.on(`GET ${APPS}`, () => Response.json(answer))
      expect(await api.getConnectedApps({ tenantId: 'T1', agentId: '7' })).toEqual(answer)
      expect([...(service.seen[0]?.headers ?? [])]).toEqual([])
    },
  )

  it('[REST-12] uses another host if one is given, and caches its responses separately', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${APPS}`, ({ url }: { url: string }) => [new URL(url).host])
    const ask = (apiDomain?: string) => api.getConnectedApps({ tenantId: 'T1', agentId: '7', apiDomain })
    expect(await ask('apps.example.test')).toEqual(['apps.example.test'])
    expect(await ask(' ')).toEqual(['api.example.test'])
    await ask('apps.example.test')
    await ask()
    expect(service.seen).toHaveLength(2)
  })

  it('rejects invalid JSON', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${APPS}`, () => new Response('<p>'))
    expect(await failure(api.getConnectedApps({ tenantId: 'T1', agentId: '7' }))).toMatchObject({ reason: 'body' })
  })
})

describe('getPreviousTranscript', () => {
  it('[REST-12] returns the messages as the service lists them, and requests them each time', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${TRANSCRIPT}`, { messages: [{ content: 'hello' }, 'odd'] })
    expect(await api.getPreviousTranscript({ agentId: '7', sessionId: 'S1' })).toEqual([{ content: 'hello' }, 'odd'])
    await api.getPreviousTranscript({ agentId: '7', sessionId: 'S1', apiDomain: 'old.example.test' })
    expect(service.seen.map(({ url }) => new URL(url).host)).toEqual(['api.example.test', 'old.example.test'])
    expect(service.seen[0]?.headers.get('authorization')).toBe(`Bearer ${TOKEN}`)
  })

  it('is empty if the response has no list', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${TRANSCRIPT}`, {})
    expect(await api.getPreviousTranscript({ agentId: '7', sessionId: 'S1' })).toEqual([])
  })

  it.each(['', ' ', 'null', undefined])('[REST-10] requests nothing for the session id %j', async sessionId => {
    const { service, api } = setUpApi()
    const error = await failure(api.getPreviousTranscript({ agentId: '7', sessionId: sessionId as string }))
    expect(error).toMatchObject({ name: 'SDKError', code: 'SESSION_ID_INVALID' })
    expect(service.seen).toEqual([])
  })

  it('[REST-09] fails without revealing the session id', async () => {
    const { api } = setUpApi()
    const error = (await failure(api.getPreviousTranscript({ agentId: '7', sessionId: 'S1' }))) as Error
    expect(error).toMatchObject({ status: 404, path: TRANSCRIPT.replace('S1', ':sessionId') })
    expect(`${error.message} ${error.stack}`).not.toContain('S1')
  })
})
