import type { EmulatorOptions } from '@aiagent/emulator'
import { type LaunchedChromium, launchChromium } from '@aiagent/test-support/chromium'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { bundleElements, type ChatStage, openChatStage } from './chat-page.ts'

/** One Chromium and one bundle of the elements for all tests of a `describe`; each test opens a stage. */
export interface ChatStages {
  /** The context of all pages. */
  readonly context: BrowserContext
  /** Opens a stage, which is closed after the test. */
  open(options?: EmulatorOptions): Promise<ChatStage>
}

/** Call it in a `describe`. */
export function chatStages(): ChatStages {
  let chromium: LaunchedChromium
  let files: Readonly<Record<string, string>>
  let stage: ChatStage | undefined
  beforeAll(async () => {
    ;[chromium, files] = await Promise.all([launchChromium(), bundleElements()])
  })
  afterAll(() => chromium?.close())
  afterEach(async () => {
    await stage?.close()
    stage = undefined
  })
  return {
    get context() {
      return chromium.context
    },
    async open(options) {
      stage = await openChatStage(chromium.context, files, options)
      return stage
    },
  }
}
