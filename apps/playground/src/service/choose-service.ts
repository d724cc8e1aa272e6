import { createPageService } from './page-service.ts'
import { createDeploymentService, createServedService } from './served-service.ts'
import type { Service } from './service.ts'

/** What the server of the page has written into it; empty on a static host. */
export interface ServedFacts {
  /** Address of the service. */
  readonly endpoint: string | undefined
  /** Whether it is an emulator, which can be broken on request. */
  readonly isEmulator: boolean
  /** Agent to talk to at a deployment. */
  readonly agentId: string
}

/** Reads what the server of the page has written into it. */
export function readServedFacts(page: Document): ServedFacts {
  const read = (name: string) => page.querySelector<HTMLMetaElement>(`meta[name="playground-${name}"]`)?.content
  return {
    endpoint: read('endpoint'),
    isEmulator: read('service') !== 'deployment',
    agentId: read('agent') ?? 'help',
  }
}

/** The service of the page: the served one, unless the address of the page asks for the one in the page. */
export function chooseService({ endpoint, isEmulator }: ServedFacts, isInPage: boolean): Service {
  if (endpoint === undefined || isInPage) return createPageService()
  return isEmulator ? createServedService(endpoint) : createDeploymentService(endpoint)
}
