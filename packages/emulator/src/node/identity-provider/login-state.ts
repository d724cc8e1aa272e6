import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import type { AdapterPayload, JWK } from 'oidc-provider'
import * as v from 'valibot'
import type { StateStore } from '../../state/state-store.ts'
import type { TenantSeed, UserSeed } from '../../world/seed.ts'

/** A record of the provider's library. */
export interface LoginEntry {
  model: string
  payload: AdapterPayload
  /** Milliseconds since the epoch. */
  endsAt: number
}

const StateSchema = v.object({
  version: v.literal(1),
  signingKey: v.looseObject({ kty: v.literal('EC') }),
  cookieKey: v.pipe(v.string(), v.nonEmpty()),
  entries: v.array(
    v.tuple([v.string(), v.object({ model: v.string(), payload: v.looseObject({}), endsAt: v.nullable(v.number()) })]),
  ),
})

/** The keys and records of one login. They outlive the process where there is a store. */
export class LoginState {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  readonly cookieKey: string
  readonly entries: Map<string, LoginEntry>
  /** Whether the state comes from an earlier process. */
  readonly isKept: boolean
  readonly #save: () => void

  constructor(store: StateStore | undefined, tenant: TenantSeed, userType: UserSeed['userType']) {
    const name = `login-${tenant.id}-${userType}`
    const read = v.safeParse(StateSchema, store?.readDocument(name))
    const kept = read.success ? read.output : undefined
    this.isKept = kept !== undefined
    this.privateKey = kept
      ? createPrivateKey({ key: kept.signingKey, format: 'jwk' })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    this.publicKey = createPublicKey(this.privateKey)
    this.cookieKey = kept?.cookieKey ?? randomBytes(32).toString('base64url')
    this.entries = new Map(
      kept?.entries.map(([key, { model, payload, endsAt }]) => [
        key,
        // JSON has no infinity.
        { model, payload, endsAt: endsAt ?? Number.POSITIVE_INFINITY },
      ]),
    )
    this.#save = () =>
      store?.writeDocument(name, {
        version: 1,
        signingKey: this.signingKey(),
        cookieKey: this.cookieKey,
        entries: [...this.entries],
      })
  }

  /** The private key, for the provider's library. */
  signingKey(): JWK {
    return this.privateKey.export({ format: 'jwk' }) as JWK
  }

  /** Keeps the state as it is now. */
  save(): void {
    this.#save()
  }
}
