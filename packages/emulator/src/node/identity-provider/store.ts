import type { Adapter, AdapterPayload } from 'oidc-provider'

interface Entry {
  model: string
  payload: AdapterPayload
  /** Milliseconds since the epoch. */
  endsAt: number
}

/** More entries than this are swept of those whose time is over. */
const SWEEP_ABOVE = 1000

/** What an identity provider remembers: sessions, logins under way, grants and tokens. Gone with the process. */
export class IdentityProviderStore {
  readonly #entries = new Map<string, Entry>()
  readonly #findClient: (id: string) => AdapterPayload | undefined

  /** @param findClient the programs that may ask for logins, looked up whenever one does */
  constructor(findClient: (id: string) => AdapterPayload | undefined) {
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
        this.#entries.set(key(id), { model, payload, endsAt })
        if (this.#entries.size > SWEEP_ABOVE) this.#sweep()
      },
      consume: async id => {
        const payload = this.#find(key(id))
        if (payload) payload.consumed = Math.floor(Date.now() / 1000)
      },
      destroy: async id => {
        this.#entries.delete(key(id))
      },
      revokeByGrantId: async grantId => {
        for (const [id, entry] of this.#entries)
          if (entry.model === model && entry.payload.grantId === grantId) this.#entries.delete(id)
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
    const entry = this.#entries.get(key)
    return entry && entry.endsAt > Date.now() ? entry.payload : undefined
  }

  #search(model: string, fits: (payload: AdapterPayload) => boolean): AdapterPayload | undefined {
    const now = Date.now()
    for (const entry of this.#entries.values())
      if (entry.model === model && entry.endsAt > now && fits(entry.payload)) return entry.payload
    return undefined
  }

  #sweep(): void {
    const now = Date.now()
    for (const [key, { endsAt }] of this.#entries) if (endsAt <= now) this.#entries.delete(key)
  }
}
