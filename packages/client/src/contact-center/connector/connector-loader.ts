import { isJsonObject } from '@aiagent/protocol'
import { ConnectorError } from '../../errors.ts'
import { sleep } from '../../platform/clock.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Page } from '../../platform/page.ts'
import { TimeLimitError, untilAborted, withTimeLimit } from '../../util/abort.ts'
import type { ConnectorScript } from './connector-url.ts'
import { COMPONENT_NAME, isPlatformComponent, type PlatformComponentService } from './platform-component.ts'

/** What loading needs of the platform. */
export type ConnectorPlatform = Pick<Environment, 'clock' | 'globals' | 'importModule' | 'page'>

/** How long a script may take in all, with its download. */
const LOAD_LIMIT_MS = 15_000
/** How long a script that has run may take to register its component. */
const REGISTRATION_LIMIT_MS = 2000
const LOOK_EVERY_MS = 50

/** The components of one page or process, and the end of the queue of those that are being loaded. */
interface Loads {
  readonly components: Map<string, Promise<PlatformComponentService>>
  last: Promise<unknown>
}

/** Kept beside the global object, since that is what agents on a page share. */
const loadsByGlobals = new WeakMap<object, Loads>()

/**
 * The component of a script, which is loaded once for all agents of a page or process.
 *
 * All scripts register under the same name, so two different ones are loaded one after the other, and what an earlier
 * one has left there is deleted first. A load that failed is forgotten: the next call tries again. A caller whose signal
 * is aborted stops waiting; the load goes on for the others.
 *
 * @throws {ConnectorError} when the script cannot be loaded, throws, registers nothing, or takes more than 15 seconds;
 * the signal's reason when that is aborted
 */
export function loadConnector(
  platform: ConnectorPlatform,
  script: ConnectorScript,
  signal?: AbortSignal,
): Promise<PlatformComponentService> {
  const { globals } = platform
  const loads = loadsByGlobals.get(globals) ?? { components: new Map(), last: Promise.resolve() }
  loadsByGlobals.set(globals, loads)
  // What was loaded without a check is no answer for a host that demands one.
  const key = `${script.integrity ?? ''} ${script.url}`
  let component = loads.components.get(key)
  if (!component) {
    const started = loads.last.then(() => load(platform, script))
    component = started
    loads.components.set(key, started)
    loads.last = started.catch(() => loads.components.delete(key))
  }
  return untilAborted(component, signal)
}

async function load(platform: ConnectorPlatform, script: ConnectorScript): Promise<PlatformComponentService> {
  const { clock, globals, page } = platform
  const limit = withTimeLimit(clock, LOAD_LIMIT_MS, undefined, signal => {
    forget(globals)
    return page ? runInPage(platform, page, script, signal) : runModule(platform, script, signal)
  })
  return limit.catch(cause => {
    if (cause instanceof ConnectorError) throw cause
    throw cause instanceof TimeLimitError
      ? failure(script, `takes more than ${LOAD_LIMIT_MS / 1000} seconds`, cause)
      : failure(script, 'could not be loaded', cause)
  })
}

async function runInPage(
  platform: ConnectorPlatform,
  page: Page,
  script: ConnectorScript,
  signal: AbortSignal,
): Promise<PlatformComponentService> {
  const tag = page.addScript({ src: script.url, integrity: script.integrity, nonce: script.nonce })
  try {
    const outcome = await untilAborted(tag.ran, signal).catch(cause => {
      throw signal.aborted
        ? cause
        : failure(
            script,
            "was not loaded: it is not there, the page's content security policy forbids it, or it does not match `connector.integrity`",
            cause,
          )
    })
    if ('thrown' in outcome) throw failure(script, 'threw an error', outcome.thrown)
    return await untilRegistered(platform, script, signal)
  } catch (error) {
    tag.remove()
    throw error
  }
}

async function runModule(
  platform: ConnectorPlatform,
  script: ConnectorScript,
  signal: AbortSignal,
): Promise<PlatformComponentService> {
  // Better no connector than one that was not checked although it should have been.
  if (script.integrity !== undefined)
    throw failure(script, 'was not loaded, since `connector.integrity` cannot be checked outside a browser')
  const module = await untilAborted(platform.importModule(script.url), signal).catch(cause => {
    throw signal.aborted
      ? cause
      : failure(script, 'could not be imported, or threw. Outside a browser it needs to be a file: address', cause)
  })
  const exported = exportedComponent(module)
  if (exported) Reflect.set(platform.globals, COMPONENT_NAME, exported)
  return exported ?? untilRegistered(platform, script, signal)
}

/** Waits for the component, since a script may take a moment after it has run. */
async function untilRegistered(
  { clock, globals }: ConnectorPlatform,
  script: ConnectorScript,
  signal: AbortSignal,
): Promise<PlatformComponentService> {
  const end = clock.monotonic() + REGISTRATION_LIMIT_MS
  for (;;) {
    const registered: unknown = Reflect.get(globals, COMPONENT_NAME)
    if (isPlatformComponent(registered)) return registered
    if (clock.monotonic() >= end)
      throw failure(script, `has registered no component as the global \`${COMPONENT_NAME}\` with \`initPlatform()\``)
    await sleep(clock, LOOK_EVERY_MS, signal)
    signal.throwIfAborted()
  }
}

/** A module's default export, its export of the component's name, or that of the object that CommonJS exports. */
function exportedComponent(module: unknown): PlatformComponentService | undefined {
  if (!isJsonObject(module)) return undefined
  const { default: standard, [COMPONENT_NAME]: named } = module
  const inner = isJsonObject(standard) ? standard[COMPONENT_NAME] : undefined
  return [standard, named, inner].find(isPlatformComponent)
}

/** Deletes an older component. A script that declared it with `var` has made it undeletable, but not unchangeable. */
function forget(globals: object): void {
  if (!Reflect.deleteProperty(globals, COMPONENT_NAME)) Reflect.set(globals, COMPONENT_NAME, undefined)
}

function failure({ url }: ConnectorScript, what: string, cause?: unknown): ConnectorError {
  return new ConnectorError(`The connector script ${url} ${what}.`, url, cause === undefined ? undefined : { cause })
}
