import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { findChromium } from '../chromium.ts'
import { launchChromiumEngine } from './chromium-engine.ts'
import { Engine, type EngineDriver } from './engine.ts'
import { findFirefox, launchFirefox } from './firefox.ts'
import { findWebKitGtk, launchWebKitGtk } from './webkit-gtk.ts'

export type { Engine, EnginePage } from './engine.ts'

/** An engine that tests run in: how it is found, started and, on Debian, installed. */
interface KnownEngine {
  readonly name: string
  readonly packages: string
  find(): string | undefined
  launch(path: string): Promise<EngineDriver>
}

const ENGINES: readonly KnownEngine[] = [
  { name: 'Chromium', packages: 'chromium', find: findChromium, launch: launchChromiumEngine },
  { name: 'Firefox', packages: 'firefox-esr', find: findFirefox, launch: launchFirefox },
  { name: 'WebKitGTK', packages: 'webkit2gtk-driver and xvfb', find: findWebKitGtk, launch: launchWebKitGtk },
]

/** The engine of a group of tests. */
export interface InEngine {
  readonly name: string
  readonly engine: Engine
}

/**
 * Declares the same tests for each engine. The closing lines of the run name an engine that is not installed.
 *
 * Engines run one after the other. All tests of a group share one; pages are closed after each test.
 */
export function describeInEngines(title: string, declare: (at: InEngine) => void): void {
  for (const { name, packages, find, launch } of ENGINES) {
    const path = find()
    const options = path ? {} : { skip: true, meta: { missing: `${name} is not installed (on Debian: ${packages})` } }
    describe(`${title} in ${name}`, options, () => {
      let engine: Engine
      beforeAll(async () => {
        engine = await Engine.over(await launch(path ?? ''))
        console.info(`${name} ${engine.version}`)
      })
      afterEach(() => engine.closePages())
      afterAll(() => engine?.close())
      declare({
        name,
        get engine() {
          return engine
        },
      })
    })
  }
}
