import type { Sightings } from './sightings.ts'

/** A request as it left the host. */
export interface SentRequest {
  readonly method: string
  readonly url: string
  readonly headers: Iterable<readonly [string, string]>
  readonly body?: unknown
}

/** Names of the service's own addresses. */
export interface ServiceAddresses {
  /** Origin of the REST calls. */
  readonly origin: string
  /** Hosts of the chat, with their ports. */
  readonly chatHosts: readonly string[]
}

/** Notes requests, chat connections and frames. Addresses other than the service's are `elsewhere`. */
export class Traffic {
  readonly #sightings: Sightings
  readonly #addresses: ServiceAddresses

  constructor(sightings: Sightings, addresses: ServiceAddresses) {
    this.#sightings = sightings
    this.#addresses = addresses
  }

  request({ method, url, headers, body }: SentRequest): void {
    const where = `${this.#target(url)} ${method} ${URL.canParse(url) ? new URL(url).pathname : url}`
    this.#sightings.add('URL', where, url)
    for (const [name, value] of headers) this.#sightings.add('request header', `${where} ${name.toLowerCase()}`, value)
    if (body !== undefined && body !== null) this.#sightings.add('request body', where, body)
  }

  socket(url: string): void {
    this.#sightings.add('URL', `${this.#target(url)} ${URL.canParse(url) ? new URL(url).pathname : url}`, url)
  }

  frame(data: unknown): void {
    this.#sightings.add('frame', kindOf(data), data)
  }

  #target(url: string): 'service' | 'chat' | 'elsewhere' {
    if (!URL.canParse(url)) return 'elsewhere'
    const { origin, host, protocol } = new URL(url)
    if (protocol.startsWith('ws')) return this.#addresses.chatHosts.includes(host) ? 'chat' : 'elsewhere'
    return origin === this.#addresses.origin ? 'service' : 'elsewhere'
  }
}

/** Persona and role of a frame. */
function kindOf(data: unknown): string {
  try {
    const { persona, role } = JSON.parse(String(data)) as { persona?: unknown; role?: unknown }
    return `${String(persona)}/${String(role)}`
  } catch {
    return 'not JSON'
  }
}
