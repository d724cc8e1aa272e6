import type { Environment } from '@aiagent/client'
import type { FaultInForce } from '@aiagent/emulator'
import type { ServiceControls } from './service.ts'

/** The controls of an emulator, over the calls that it answers for this purpose. */
export function createControls(fetch: Environment['fetch'], endpoint: string): ServiceControls {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const init: RequestInit = { method, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await fetch(`${endpoint}/_control${path}`, init)
    const answer = (await response.json()) as T & { message?: string }
    if (!response.ok) throw new Error(answer.message ?? `The emulator answered ${response.status}.`)
    return answer
  }
  return {
    add: async fault => (await call<{ applied: { id: string }[] }>('POST', '/faults', fault)).applied[0]?.id ?? '',
    lift: async id => {
      // It may be over already.
      await call('DELETE', `/faults/${id}`).catch(() => {})
    },
    active: async () => (await call<{ faults: FaultInForce[] }>('GET', '/faults')).faults,
    answerTime: async () => (await call<{ replyDelayMs: number }>('GET', '/settings')).replyDelayMs,
    change: async settings => void (await call('PATCH', '/settings', settings)),
    issueToken: async subject => (await call<{ token: string }>('POST', '/tokens', { subject })).token,
  }
}
