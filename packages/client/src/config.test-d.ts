import { describe, expectTypeOf, it } from 'vitest'
import { AiAgent } from './ai-agent.ts'
import type { AiAgentConfig } from './config.ts'

describe('AiAgentConfig', () => {
  it('needs an id and an endpoint', () => {
    expectTypeOf<{ id: string; endpoint: string }>().toExtend<AiAgentConfig>()
    expectTypeOf<{ id: string }>().not.toExtend<AiAgentConfig>()
    expectTypeOf<{ endpoint: string }>().not.toExtend<AiAgentConfig>()
  })

  it('[CFG-15] has no scopes', () => {
    expectTypeOf<{ id: string; endpoint: string; scopes: string[] }>().not.toExtend<AiAgentConfig>()
    // @ts-expect-error scopes belong in initParams or in a PKCE config
    new AiAgent({ id: 'help', endpoint: 'https://agents.example.test', scopes: ['a.b'] })
  })

  it('accepts a string or a number as session id', () => {
    expectTypeOf<AiAgentConfig['sessionId']>().toEqualTypeOf<string | number | undefined>()
  })

  it('accepts a token, a provider, or undefined as auth', () => {
    expectTypeOf<{ type: 'pre-auth'; accessToken: string }>().toExtend<NonNullable<AiAgentConfig['auth']>>()
    expectTypeOf<{ getToken(): Promise<string> }>().toExtend<NonNullable<AiAgentConfig['auth']>>()
    expectTypeOf<number>().not.toExtend<NonNullable<AiAgentConfig['auth']>>()
  })
})
