import { paths } from '@aiagent/protocol'
import { ManualClock } from '@aiagent/test-support'
import type { EmulatorOptions } from '../src/index.ts'
import { ServiceCaller } from './chat-client.ts'

/** What a call was answered with; no body where there was none. */
export interface Answered {
  status: number
  body: unknown
}

/** Calls the service of a contact center as somebody. */
export class DeskCaller {
  readonly clock = new ManualClock()
  readonly service: ServiceCaller
  #token: string

  constructor(options: EmulatorOptions = {}, subject = 'desk-agent') {
    this.service = new ServiceCaller({ clock: this.clock, ...options })
    this.#token = this.tokenOf(subject)
  }

  get emulator() {
    return this.service.emulator
  }

  tokenOf(subject: string): string {
    return this.emulator.control.issueToken({ subject })
  }

  /** Calls as somebody else from now on. */
  become(subject: string): this {
    this.#token = this.tokenOf(subject)
    return this
  }

  async becomeAnybody(): Promise<this> {
    this.#token = await this.service.anonymousToken()
    return this
  }

  /** Calls with a token, unless the headers are given. */
  async call(method: string, path: string, headers: Record<string, string> = this.authorization): Promise<Answered> {
    const response = await this.emulator.fetch(this.emulator.origin + path, { method, headers })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
  }

  get(path: string, headers?: Record<string, string>): Promise<Answered> {
    return this.call('GET', path, headers)
  }

  put(path: string, headers?: Record<string, string>): Promise<Answered> {
    return this.call('PUT', path, headers)
  }

  get authorization(): { authorization: string } {
    return { authorization: `Bearer ${this.#token}` }
  }

  get bareAuthorization(): { authorization: string } {
    return { authorization: this.#token }
  }

  /** The ids in a list of portals, and what it says of its pages. */
  async portals(path: string): Promise<{ status: number; ids: unknown[]; pages: unknown }> {
    const { status, body = {} } = await this.get(path)
    const { portal = [], paginationInfo } = body as { portal?: { id: unknown }[]; paginationInfo?: unknown }
    return { status, ids: portal.map(({ id }) => id), pages: paginationInfo }
  }

  /** The profiles of a portal, each by its id and whether it was used last. */
  async profiles(portalId: number): Promise<[unknown, unknown][]> {
    const { body = {} } = await this.get(paths.userProfiles(portalId))
    const { profile = [] } = body as { profile?: { id: unknown; isLastUsedInPortal: unknown }[] }
    return profile.map(({ id, isLastUsedInPortal }) => [id, isLastUsedInPortal])
  }
}
