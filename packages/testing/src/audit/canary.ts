/** Kinds of planted values. */
export type CanaryKind = 'card' | 'token' | 'address' | 'session'

/**
 * Where a value is planted: in messages of the user, in the context, as access tokens and the facts of their user, in answers
 * of the agent, in error texts of the service, or as the id of the session.
 */
export type CanaryPlace = 'message' | 'context' | 'token' | 'answer' | 'error' | 'session'

/** A planted value. It is random, so that each occurrence of it is a trace of its place. */
export interface Canary {
  readonly kind: CanaryKind
  readonly place: CanaryPlace
  readonly value: string
}

/** The planted values of an audit. Tokens and sessions are added when they are issued. */
export class Canaries {
  readonly #all: Canary[] = []

  constructor() {
    for (const place of ['message', 'context'] as const)
      for (const kind of ['card', 'token', 'address', 'session'] as const) this.#all.push(makeCanary(kind, place))
    this.#all.push(makeCanary('address', 'token'), makeCanary('address', 'answer'))
    this.#all.push(makeCanary('token', 'error'))
  }

  /** All values so far. */
  get all(): readonly Canary[] {
    return this.#all
  }

  /** Adds an issued token or session id, once. */
  add(kind: CanaryKind, place: CanaryPlace, value: string): void {
    if (!this.#all.some(canary => canary.value === value)) this.#all.push({ kind, place, value })
  }

  /** @throws {RangeError} when there is no such canary */
  valueOf(kind: CanaryKind, place: CanaryPlace): string {
    const found = this.#all.find(canary => canary.kind === kind && canary.place === place)
    if (!found) throw new RangeError(`No ${kind} is planted in the ${place}.`)
    return found.value
  }
}

/** A user's question for each kind of canary. Their texts have no other digits. */
export const questionsOf = (canaries: Canaries): string[] => [
  `My card is ${canaries.valueOf('card', 'message')}, please pay with it.`,
  `Write to ${canaries.valueOf('address', 'message')} about it.`,
  `My app shows ${canaries.valueOf('token', 'message')} in an error.`,
  `The chat has the number ${canaries.valueOf('session', 'message')} here.`,
]

/** The context of the conversation. */
export const contextOf = (canaries: Canaries): Record<string, string> => ({
  cardOnFile: canaries.valueOf('card', 'context'),
  backendToken: canaries.valueOf('token', 'context'),
  postalAddress: canaries.valueOf('address', 'context'),
  shopSession: canaries.valueOf('session', 'context'),
})

function makeCanary(kind: CanaryKind, place: CanaryPlace): Canary {
  return { kind, place, value: makeValue(kind, place) }
}

function makeValue(kind: CanaryKind, place: CanaryPlace): string {
  const id = crypto.randomUUID()
  switch (kind) {
    case 'card':
      return makeCard()
    case 'token':
      return `eyJhbGciOiJub25lIn0.${id.replaceAll('-', '')}.${crypto.randomUUID().replaceAll('-', '')}`
    case 'address':
      return place === 'context' ? `12 Canary ${id.slice(0, 8)} Street` : `canary-${id.slice(0, 13)}@people.example`
    case 'session':
      return id
    default:
      return kind satisfies never
  }
}

/** A number of a payment card with a valid check digit. */
function makeCard(): string {
  const random = crypto.getRandomValues(new Uint8Array(14))
  const digits = [4, ...[...random].map(byte => byte % 10)]
  const sum = digits.reduce((total, digit, index) => {
    const weighted = index % 2 === 0 ? digit * 2 : digit
    return total + (weighted > 9 ? weighted - 9 : weighted)
  }, 0)
  return [...digits, (10 - (sum % 10)) % 10].join('')
}
