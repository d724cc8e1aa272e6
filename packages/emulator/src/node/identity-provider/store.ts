import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { LoginState } from './login-state.ts'

/** Above this number, expired entries are removed. */
const SWEEP_ABOVE = 1000

/** What an identity provider remembers: sessions, logins in progress, grants and tokens. */
export class IdentityProviderStore {
  readonly #state: LoginState
  readonly #findClient: (id: string) => AdapterPayload | undefined

  /** @param findClient looks up the clients that may use logins */
  constructor(state: LoginState, findClient: (id: string) => AdapterPayload | undefined) {
    this.#state = state
    this.#findClient = findClient
  }

  /** The part of the store for one kind of record. */
  adapter(model: string): Adapter {
    const key = (id: string) => `${model} ${id}`
    const find = async (id: string) => this.#find(key(id))
    if (model === 'Client') return { ...this.#nothing, find: async id => this.#findClient(id) }
    return {
      find,
      findByUid: async uid => this.#search(model, payload => payload.uid === uid),
      findByUserCode: async code => this.#search(model, payload => payload.userCode === code),
      upsert: async (id, payload, lifeSeconds) => {
        const endsAt = lifeSeconds === undefined ? Number.POSITIVE_INFINITY : Date.now() + lifeSeconds * 1000
        this.#state.entries.set(key(id), { model, payload, endsAt })
        if (this.#state.entries.size > SWEEP_ABOVE) this.#sweep()
        this.#state.save()
      },
      consume: async id => {
        const payload = this.#find(key(id))
        if (!payload) return
        payload.consumed = Math.floor(Date.now() / 1000)
        this.#state.save()
      },
      destroy: async id => {
        this.#state.entries.delete(key(id))
        this.#state.save()
      },
      revokeByGrantId: async grantId => {
        for (const [id, entry] of this.#state.entries)
          if (entry.model === model && entry.payload.grantId === grantId) this.#state.entries.delete(id)
        this.#state.save()
      },
    }
  }

  readonly #nothing: Adapter = {
    find: async () => undefined,
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
    upsert: async () => {},
    consume: async () => {},
    destroy: async () => {},
    revokeByGrantId: async () => {},
  }

  #find(key: string): AdapterPayload | undefined {
    const entry = this.#state.entries.get(key)
    return entry && entry.endsAt > Date.now() ? entry.payload : undefined
  }

  #search(model: string, fits: (payload: AdapterPayload) => boolean): AdapterPayload | undefined {
    const now = Date.now()
    for (const entry of this.#state.entries.values())
      if (entry.model === model && entry.endsAt > now && fits(entry.payload)) return entry.payload
    return undefined
  }

  #sweep(): void {
    const now = Date.now()
    for (const [key, { endsAt }] of this.#state.entries) if (endsAt <= now) this.#state.entries.delete(key)
  }
}
