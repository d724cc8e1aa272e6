import type { EmulatorOptions } from '@aiagent/emulator'
import { type LaunchedChromium, launchChromium } from '@aiagent/test-support/chromium'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { bundleElements, type ChatStage, openChatStage } from './chat-page.ts'

/** One Chromium and one bundle of the elements for all tests of a `describe`; each test opens a stage in a window that nothing is left in. */
export interface ChatStages {
  /** The context of the pages of this test. */
  readonly context: BrowserContext
  /** Opens a stage, which is closed after the test. */
  open(options?: EmulatorOptions): Promise<ChatStage>
}

/** Call it in a `describe`. */
export function chatStages(): ChatStages {
  let chromium: LaunchedChromium
  let files: Readonly<Record<string, string>>
  let window: LaunchedChromium
  let stage: ChatStage | undefined
  beforeAll(async () => {
    ;[chromium, files] = await Promise.all([launchChromium(), bundleElements()])
  })
  afterAll(() => chromium?.close())
  // A clock that a test has stopped, and permissions that it has granted, would act on the pages of the next one.
  beforeEach(async () => {
    window = await chromium.newWindow()
  })
  afterEach(async () => {
    await stage?.close()
    stage = undefined
    await window.close()
  })
  return {
    get context() {
      return window.context
    },
    async open(options) {
      stage = await openChatStage(window.context, files, options)
      return stage
    },
  }
}
