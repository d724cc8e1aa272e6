import { createEmulator } from '@aiagent/emulator'
import { createControls } from './controls.ts'
import { loginAt } from './page-service.ts'
import type { Service } from './service.ts'

const network = {
  fetch: (input: string, init?: RequestInit) => globalThis.fetch(input, init),
  get WebSocket() {
    return globalThis.WebSocket
  },
}

/** An emulator on a port of this machine. */
export function createServedService(endpoint: string): Service {
  return {
    name: `emulator at ${new URL(endpoint).host}`,
    endpoint,
    environment: network,
    controls: createControls(network.fetch, endpoint),
    // The configuration follows from the default world: nothing is requested for it.
    login: userType => loginAt(createEmulator({ origin: endpoint, offersLogin: true }), userType),
  }
}

/** A deployment. It decides itself who signs in where. */
export function createDeploymentService(endpoint: string): Service {
  return { name: new URL(endpoint).host, endpoint, environment: network, controls: undefined, login: () => undefined }
}
