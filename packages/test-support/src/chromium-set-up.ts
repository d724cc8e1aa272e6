import type { TestProject } from 'vitest/node'
import { HOW_TO_GET_CHROMIUM, prepareChromium } from './chromium.ts'
import { probeOnce } from './chromium-capabilities.ts'

/** Runs once before the browser tests: prepares a Chromium and probes what it can do, or prints why they are skipped. */
export default async function setUp(project: TestProject): Promise<void> {
  try {
    const path = await prepareChromium()
    project.provide('chromiumCapabilities', path === undefined ? [] : await probeOnce(path))
    if (path === undefined) warn('no Chromium was found, and there is no packaged one for this platform')
  } catch (error) {
    project.provide('chromiumCapabilities', [])
    warn(String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? '')
  }
}

function warn(reason: string): void {
  console.warn(`Skipped the browser tests: ${reason}. ${HOW_TO_GET_CHROMIUM}`)
}
