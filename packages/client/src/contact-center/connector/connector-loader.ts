import { isJsonObject } from '@aiagent/protocol'
import { ConnectorError } from '../../errors.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Page, PageScript } from '../../platform/page.ts'
import { sleep, TimeLimitError, untilAborted, withTimeLimit } from '../../util/abort.ts'
import { JoinedTask } from '../../util/joined-task.ts'
import type { ConnectorScript } from './connector-url.ts'
import { COMPONENT_NAME, isPlatformComponent, type PlatformComponentService } from './platform-component.ts'

/** Dependencies of loading. */
export type ConnectorPlatform = Pick<Environment, 'clock' | 'globals' | 'importModule' | 'page'>

/** Time limit for a script, including its download. */
const LOAD_LIMIT_MS = 15_000
/** How long a script that has run may take to register its component. */
const REGISTRATION_LIMIT_MS = 2000
const LOOK_EVERY_MS = 50

/** The components of one page or process, and the queue of those being loaded. */
interface Loads {
  readonly components: Map<string, PlatformComponentService>
  readonly loading: JoinedTask<PlatformComponentService>
  last: Promise<unknown>
  /** Addresses of scripts that have run, or may still run, without registering in time, by key. */
  readonly strays: Map<string, string>
}

/** Keyed by the global object, which all agents of a page share. */
const loadsByGlobals = new WeakMap<object, Loads>()

/**
 * Loads the component of a script, once for all agents of a page or process.
 *
 * All scripts register under the same name. So two different ones are loaded one after the other, and the component of
 * the earlier one is deleted first. A script that timed out must not be mistaken for the next one. If it has not run,
 * it never runs. If it has run without registering, only a component counts that the next script assigns while it runs
 * (in a page) or exports (elsewhere).
 *
 * A failed load is not cached: the next call retries. A caller whose signal is aborted stops waiting; the load
 * continues for the others, and ends with the last of them.
 *
 * @throws {ConnectorError} when the script cannot be loaded, throws, registers nothing, or takes more than 15 seconds;
 *   the signal's reason when that is aborted
 */
export async function loadConnector(
  platform: ConnectorPlatform,
  script: ConnectorScript,
  signal?: AbortSignal,
): Promise<PlatformComponentService> {
  const { globals } = platform
  const loads = loadsByGlobals.get(globals) ?? {
    components: new Map(),
    loading: new JoinedTask(),
    last: Promise.resolve(),
    strays: new Map(),
  }
  loadsByGlobals.set(globals, loads)
  // A script loaded without `integrity` must not satisfy a request that requires it.
  const key = `${script.integrity ?? ''} ${script.url}`
  const start = async (wanted: AbortSignal) => {
    const started = loads.last.then(() => load(platform, script, key, loads.strays, wanted))
    loads.last = started.catch(() => {})
    const component = await started
    loads.components.set(key, component)
    return component
  }
  return loads.components.get(key) ?? loads.loading.join(start, signal, key)
}

async function load(
  platform: ConnectorPlatform,
  script: ConnectorScript,
  key: string,
  strays: Map<string, string>,
  wanted: AbortSignal,
): Promise<PlatformComponentService> {
  const { clock, globals, page } = platform
  const limit = withTimeLimit(clock, LOAD_LIMIT_MS, wanted, signal => {
    forget(globals)
    const [stray] = [...strays].filter(([other]) => other !== key).map(([, url]) => url)
    const started = () => {
      strays.set(key, script.url)
      return () => void strays.delete(key)
    }
    return page
      ? runInPage(platform, page, script, started, stray, signal)
      : runModule(platform, script, started, stray, signal)
  })
  const inTime = limit.then(component => {
    strays.delete(key)
    return component
  })
  return inTime.catch(cause => {
    if (cause instanceof ConnectorError || wanted.aborted) throw cause
    throw cause instanceof TimeLimitError
      ? failure(script, `takes more than ${LOAD_LIMIT_MS / 1000} seconds`, cause)
      : failure(script, 'could not be loaded', cause)
  })
}

async function runInPage(
  platform: ConnectorPlatform,
  page: Page,
  script: ConnectorScript,
  started: () => () => void,
  stray: string | undefined,
  signal: AbortSignal,
): Promise<PlatformComponentService> {
  const tag = page.addScript({ src: script.url, integrity: script.integrity, nonce: script.nonce })
  if (stray !== undefined) acceptOnlyFrom(tag, platform.globals)
  try {
    const outcome = await untilAborted(tag.ran, signal).catch(cause => {
      throw signal.aborted
        ? cause
        : failure(
            script,
            "was not loaded: it does not exist, the page's content security policy forbids it, or it does not match `connector.integrity`",
            cause,
          )
    })
    started()
    if ('thrown' in outcome) throw failure(script, 'threw an error', outcome.thrown)
    const component = await untilRegistered(platform, script, stray, signal)
    return stray === undefined ? component : keep(platform.globals, component)
  } catch (error) {
    tag.remove()
    forget(platform.globals)
    throw error
  }
}

async function runModule(
  platform: ConnectorPlatform,
  script: ConnectorScript,
  started: () => () => void,
  stray: string | undefined,
  signal: AbortSignal,
): Promise<PlatformComponentService> {
  // Fail rather than run a script without the required check.
  if (script.integrity !== undefined)
    throw failure(script, 'was not loaded, since `connector.integrity` cannot be checked outside a browser')
  const neverRan = started()
  const importing = platform.importModule(script.url)
  importing.catch(neverRan)
  const module = await untilAborted(importing, signal).catch(cause => {
    throw signal.aborted
      ? cause
      : failure(script, 'could not be imported, or threw an error. Outside a browser it must be a file: address', cause)
  })
  const exported = exportedComponent(module)
  if (exported) Reflect.set(platform.globals, COMPONENT_NAME, exported)
  if (!exported && stray !== undefined) throw failure(script, strayNote(stray))
  return exported ?? untilRegistered(platform, script, undefined, signal)
}

/** Waits for the component, since a script may take a moment after it has run. */
async function untilRegistered(
  { clock, globals }: ConnectorPlatform,
  script: ConnectorScript,
  stray: string | undefined,
  signal: AbortSignal,
): Promise<PlatformComponentService> {
  const end = clock.monotonic() + REGISTRATION_LIMIT_MS
  for (;;) {
    const registered: unknown = Reflect.get(globals, COMPONENT_NAME)
    if (isPlatformComponent(registered)) return registered
    if (clock.monotonic() >= end)
      throw failure(
        script,
        stray !== undefined
          ? strayNote(stray)
          : `has registered no component as the global \`${COMPONENT_NAME}\` with \`initPlatform()\``,
      )
    await sleep(clock, LOOK_EVERY_MS, signal)
    signal.throwIfAborted()
  }
}

/** A module's default export, its export with the component's name, or that of an object exported by CommonJS. */
function exportedComponent(module: unknown): PlatformComponentService | undefined {
  if (!isJsonObject(module)) return undefined
  const { default: standard, [COMPONENT_NAME]: named } = module
  const inner = isJsonObject(standard) ? standard[COMPONENT_NAME] : undefined
  return [standard, named, inner].find(isPlatformComponent)
}

/** Makes the global ignore assignments while the script does not run. */
function acceptOnlyFrom(tag: PageScript, globals: object): void {
  let registered: unknown
  Reflect.defineProperty(globals, COMPONENT_NAME, {
    configurable: true,
    get: () => registered,
    set(value: unknown) {
      if (tag.isCurrent()) registered = value
    },
  })
}

/** Stores the component at the global, where a script may look it up. */
function keep(globals: object, component: PlatformComponentService): PlatformComponentService {
  const descriptor = { value: component, configurable: true, enumerable: true, writable: true }
  Reflect.defineProperty(globals, COMPONENT_NAME, descriptor)
  return component
}

function strayNote(stray: string): string {
  return `has not registered its component while it ran, and the earlier script ${stray} may still register its own. Reload the page`
}

/** Deletes an earlier component. A script that declared it with `var` made it undeletable, but still writable. */
function forget(globals: object): void {
  if (!Reflect.deleteProperty(globals, COMPONENT_NAME)) Reflect.set(globals, COMPONENT_NAME, undefined)
}

function failure({ url }: ConnectorScript, what: string, cause?: unknown): ConnectorError {
  return new ConnectorError(`The connector script ${url} ${what}.`, url, cause === undefined ? undefined : { cause })
}
