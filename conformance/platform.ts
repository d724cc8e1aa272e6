import type { AiAgentConfig, HookContract } from '@aiagent/client'
import { type DeskPerson, openDesk } from './desk.ts'
import type { Service } from './wire.ts'

/** A platform's part, as its script registers it. Each member is optional here, so that a scenario gives what it means. */
export type Component = Readonly<Record<string, (...given: never[]) => unknown>>

export interface PlatformOptions extends DeskPerson {
  readonly config?: Partial<AiAgentConfig>
  /** Instead of the script that the service publishes. */
  readonly component?: Component
}

/** A component that only connects. */
export const QUIET: Component = { initPlatform() {} }

/**
 * A desk agent beside a platform's connector. The script comes from the service, over the same wire as everything else,
 * and runs in a world of its own, as it would in a page.
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
    if (!answer.ok) throw new Error(`The script's address answers ${answer.status}.`)
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

/** A component that keeps the hook it was given, and what was asked of it. */
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
    if (!kept) throw new Error('The connector was not given its hook.')
    return kept as HookContract & Record<string, unknown>
  }
  return { component, hook, asked }
}
