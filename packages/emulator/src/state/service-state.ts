import type { Id } from '@aiagent/protocol'
import * as v from 'valibot'
import type { Random } from '../random.ts'
import type { StateStore } from './state-store.ts'

/** Tokens up to a place in the order of issue end at the given second at the latest, whatever they say. */
export interface TokenCut {
  serial: number
  /** Seconds since the epoch. */
  exp: number
}

/** The profile that a user took on last in a portal. */
export type ProfileChoice = readonly [subject: string, portalId: string, profileId: Id]

const StateSchema = v.object({
  version: v.literal(1),
  starts: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  secret: v.pipe(v.string(), v.regex(/^[\da-f]{64}$/)),
  cuts: v.array(v.object({ serial: v.number(), exp: v.number() })),
  choices: v.array(v.tuple([v.string(), v.string(), v.union([v.string(), v.number()])])),
})

const DOCUMENT = 'service'
/** Places in the order of issue that one start of the service may use. */
const SERIALS_PER_START = 2 ** 32

/** What the service itself knows beyond its sessions: the secret of its tokens, their cuts, and the choices of users. */
export class ServiceState {
  readonly #store: StateStore | undefined
  readonly #kept: v.InferOutput<typeof StateSchema> | undefined
  /** How often the service has been started on this state, this time included. */
  readonly starts: number
  #secret = ''
  #cuts: readonly TokenCut[]
  #choices: readonly ProfileChoice[]

  /** Reads the state that is kept, if any. Without a store, nothing is kept. */
  constructor(store: StateStore | undefined) {
    this.#store = store
    const read = v.safeParse(StateSchema, store?.readDocument(DOCUMENT))
    this.#kept = read.success ? read.output : undefined
    this.starts = (this.#kept?.starts ?? 0) + 1
    this.#cuts = this.#kept?.cuts ?? []
    this.#choices = this.#kept?.choices ?? []
  }

  get cuts(): readonly TokenCut[] {
    return this.#cuts
  }

  get choices(): readonly ProfileChoice[] {
    return this.#choices
  }

  /** Last place in the order of issue that an earlier start may have used. */
  get serial(): number {
    return (this.starts - 1) * SERIALS_PER_START
  }

  /** The secret that signs tokens: the kept one, else a new one. Call it once. */
  takeSecret(random: Random): Uint8Array {
    const drawn = random.bytes(32)
    this.#secret = this.#kept?.secret ?? toHex(drawn)
    this.#save()
    return this.#kept ? fromHex(this.#secret) : drawn
  }

  keepCuts(cuts: readonly TokenCut[]): void {
    this.#cuts = cuts
    this.#save()
  }

  keepChoices(choices: readonly ProfileChoice[]): void {
    this.#choices = choices
    this.#save()
  }

  #save(): void {
    this.#store?.writeDocument(DOCUMENT, {
      version: 1,
      starts: this.starts,
      secret: this.#secret,
      cuts: this.#cuts,
      choices: this.#choices,
    })
  }
}

const toHex = (bytes: Uint8Array) => [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')
const fromHex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], byte => Number.parseInt(byte, 16))
