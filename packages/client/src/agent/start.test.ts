import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { AuthenticationService } from '../auth/authentication-service.ts'
import { ContextStore } from '../chat/context-store.ts'
import type { LoadedAgent } from '../facts.ts'
import { Masking } from '../masking/masking.ts'
import { resolveEnvironment } from '../platform/default-environment.ts'
import { AgentScope } from '../scope.ts'
import { Start } from './start.ts'

/** A start whose requests for the user the test answers. */
function setUp() {
  const scope = new AgentScope(
    { id: 'account', endpoint: 'https://a.test', enableLogging: false },
    resolveEnvironment(),
  )
  const authentication = new AuthenticationService()
  const start = new Start(scope, { authentication, context: new ContextStore(scope), masking: new Masking({}) })
  const answers: ((user: { id: string }) => void)[] = []
  const api = { call: () => new Promise(resolve => answers.push(resolve)) }
  const loaded = { deployment: {}, agent: { isAuthenticated: true }, api } as unknown as LoadedAgent
  const load = async () => {
    const before = answers.length
    const loading = start.loadUser(loaded, undefined)
    await eventually(() => answers.length > before, 'the request')
    return { loading, answer: (id: string) => answers[before]?.({ id }) }
  }
  return { scope, start, load }
}

describe('a user whose details arrive late', () => {
  it('[SEC-20] is not kept after a sign-out', async () => {
    const { scope, start, load } = setUp()
    const { loading, answer } = await load()
    start.forgetUser()
    answer('the user who signed out')
    await loading
    expect(scope.facts.user ?? null).toBeNull()
  })

  it('[SEC-20] does not replace the user of a later load', async () => {
    const { scope, load } = setUp()
    const first = await load()
    const second = await load()
    second.answer('present')
    await second.loading
    first.answer('earlier')
    await first.loading
    expect(scope.facts.user).toEqual({ id: 'present' })
  })
})
