import { setTimeout as delay } from 'node:timers/promises'
import { hasChromium } from '@aiagent/test-support/chromium'
import { needs } from '@aiagent/test-support/needs'
import { launchRealTabs, type RealTabs } from '@aiagent/test-support/real-tabs'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest'
import { bundleHost, type InPages, openStage, type Stage } from './client-page.ts'

/** Declares tests of the client in tabs that can be hidden; skipped if the browser has none. */
export function describeInRealTabs(title: string, declare: (at: InPages) => void): void {
  describe.skipIf(!hasChromium())(title, needs('background tabs'), () => {
    let bundle = ''
    let tabs: RealTabs
    let stage: Stage
    beforeAll(async () => {
      bundle = await bundleHost()
      tabs = await launchRealTabs()
    })
    afterAll(() => tabs?.close())
    beforeEach(async () => {
      stage = await openStage(bundle)
    })
    afterEach(() => stage.close())
    declare({
      get context() {
        return tabs.context
      },
      get stage() {
        return stage
      },
    })
  })
}

/** Puts another page in front. */
export async function hide(page: Page): Promise<void> {
  const other = await page.context().newPage()
  await other.bringToFront()
  await until(page, () => document.visibilityState === 'hidden')
}

/** Evaluates a condition in a page until it is true, with timers outside the page: those of a hidden page are slow. */
export async function until(page: Page, probe: () => boolean): Promise<void> {
  while (!(await page.evaluate(probe))) await delay(10)
}
