import type { Emulator, EmulatorOptions, Fault } from '@aiagent/emulator'
import { parseClientMessage } from '@aiagent/protocol'
import type { Bench, BenchOptions } from '../src/conform/bench.ts'

/** A frame on its way to the service. */
export interface Frame {
  role: string
  content: string
  pass(): void
  emulator: Emulator
}

/** A service that breaks one rule. */
export interface Broken {
  /** Start of the title of the scenario. */
  scenario: string
  what: string
  /** The failed claim. */
  says: RegExp
  service?: EmulatorOptions
  fault?: Fault
  options?: Partial<BenchOptions>
  /** Changes a response with JSON. */
  answer?: (path: string, body: Record<string, unknown>) => object
  /** Changes a request. */
  request?: (path: string, init: RequestInit) => RequestInit
  /** Handles each frame of the client in place of the service. */
  onFrame?: () => (frame: Frame) => void
  /** Changes the address of a chat. */
  address?: (url: string, emulator: Emulator) => string
  /** Replaces parts of the library, for claims that no service can violate while the library works. */
  library?: (bench: Bench, emulator: Emulator) => void | Promise<void>
}

/** The platform of a client whose service is broken. */
export function environmentOf(emulator: Emulator, broken: Partial<Broken>): NonNullable<BenchOptions['environment']> {
  const { answer, request, address } = broken
  const onFrame = broken.onFrame?.()
  class WebSocket extends emulator.WebSocket {
    constructor(url: string) {
      super(address?.(url, emulator) ?? url)
    }

    override send(data: string): void {
      if (!onFrame) return super.send(data)
      const { role, content = '' } = parseClientMessage(data)
      onFrame({ role, content, emulator, pass: () => super.send(data) })
    }
  }
  return {
    WebSocket,
    fetch: async (input, init = {}) => {
      const { pathname } = new URL(input)
      const response = await emulator.fetch(input, request?.(pathname, init) ?? init)
      return answer ? Response.json(answer(pathname, await response.json())) : response
    },
  }
}
