import type { AiAgentConfig, HookContract } from '@aiagent/client'
import { type DeskUser, openDesk } from './desk.ts'
import type { Service } from './wire.ts'

/** A platform component as its script registers it; every member is optional, so that a scenario sets only what it tests. */
export type Component = Readonly<Record<string, (...given: never[]) => unknown>>

export interface PlatformOptions extends DeskUser {
  readonly config?: Partial<AiAgentConfig>
  /** Replaces the script that the service publishes. */
  readonly component?: Component
}

/** A component that only implements `initPlatform`. */
export const QUIET: Component = { initPlatform() {} }

/**
 * Creates a contact-center agent with a platform connector. The script is loaded from the service over the same wire and
 * runs in its own global scope, as in a page.
 */
export function openPlatform(
  service: Service,
  initParams: Record<string, string> = {},
  { config = {}, component, subject, environment = service.environment() }: PlatformOptions = {},
) {
  const globals: Record<string, unknown> = {}
  const loaded: string[] = []
  const importModule = async (url: string): Promise<Record<string, unknown>> => {
    loaded.push(url)
    if (component) return { default: component }
    const answer = await (environment.fetch ?? fetch)(url)
    if (!answer.ok) throw new Error(`The script's address responded with ${answer.status}.`)
    new Function('globalThis', await answer.text())(globals)
    return {}
  }
  const desk = openDesk(
    service,
    {
      initParams: { platform: 'test', env: 'dev', ...initParams },
      connector: { baseUrls: { dev: service.endpoint } },
      ...config,
    },
    { ...(subject !== undefined && { subject }), environment: { ...environment, globals, importModule } },
  )
  return { ...desk, loaded, globals }
}

/** A component that records its hook and its calls. */
export function watchedComponent(members: Component = {}): {
  component: Component
  hook: () => HookContract & Record<string, unknown>
  asked: string[]
} {
  const asked: string[] = []
  let kept: HookContract | undefined
  const all: Component = {
    setHookContract(hook: HookContract) {
      kept = hook
    },
    initPlatform() {},
    ...members,
  }
  const component = Object.fromEntries(
    Object.entries(all).map(([name, member]) => [
      name,
      (...given: never[]) => {
        asked.push(name)
        return member(...given)
      },
    ]),
  )
  const hook = () => {
    if (!kept) throw new Error('The connector did not receive its hook.')
    return kept as HookContract & Record<string, unknown>
  }
  return { component, hook, asked }
}
