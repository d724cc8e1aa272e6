import { hasChromium, type LaunchedChromium, launchChromium } from '@aiagent/test-support/chromium'
import axe, { type RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleElements, openChatStage } from './chat-page.ts'
import { emulatorOf, inLanguage, playScene, SCENES, type Scene } from './scenes.ts'

/** Scenes that are played at the same time: most of their time is waiting. */
const LANES = 3

/** Scenes that show nothing but what others show too: in another size, theme or language. */
const REPEATED = new Set(['conversation', 'dark', 'phone', 'right-to-left', 'german', 'russian'])

const LANGUAGES = 'ar da de en es fr fr-ca it ja ko nl pt pt-br ru sv zh-cn'.split(' ')

/** Another theme changes colours and nothing else. */
const THEMES: Readonly<Record<'light' | 'dark', RunOptions>> = {
  light: {},
  dark: { runOnly: { type: 'rule', values: ['color-contrast'] } },
}

describe.skipIf(!hasChromium())('the rules of axe', () => {
  let chromium: LaunchedChromium
  let files: Readonly<Record<string, string>>
  beforeAll(async () => {
    ;[chromium, files] = await Promise.all([launchChromium(), bundleElements()])
  })
  afterAll(() => chromium?.close())

  /** Places in the elements of a page that break a rule, and those where axe could not decide whether they do. */
  const examine = async (page: Page, options: RunOptions) => {
    const { violations, incomplete } = await page.evaluate(
      given => (globalThis as unknown as { axe: typeof axe }).axe.run('ai-agent-chat, ai-agent-launcher', given),
      { resultTypes: ['violations', 'incomplete'], preload: false, ...options } satisfies RunOptions,
    )
    return [...violations, ...incomplete].flatMap(({ id, nodes }) =>
      nodes
        // Text at the edge of the list, half scrolled away, and over the shade at the edge of a table cannot be decided; it is like
        // the rest.
        .filter(({ any }) => !['elmPartiallyObscured', 'bgGradient'].includes(any[0]?.data?.messageKey))
        .map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    )
  }

  const check = async (scene: Scene, themes: readonly (keyof typeof THEMES)[]) => {
    const window = await chromium.newWindow()
    const stage = await openChatStage(window.context, files, emulatorOf(scene))
    try {
      const { page } = await playScene(scene, stage)
      await page.evaluate(axe.source)
      const found: string[] = []
      for (const theme of themes) {
        // A colour in the middle of a transition is neither of the two.
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
        found.push(...(await examine(page, THEMES[theme])).map(line => `${scene.name}, ${theme}: ${line}`))
      }
      return found
    } finally {
      await stage.close()
      await window.close()
    }
  }

  it('[EL-14] finds one banner and one footer of the page, and the chat as a region with a name', async () => {
    const window = await chromium.newWindow()
    const stage = await openChatStage(window.context, files)
    try {
      const { page } = await stage.open(`<header>Shop</header><main><h1>Shop</h1>
        <ai-agent-chat endpoint="ENDPOINT" agent-id="help" heading="Ask us"></ai-agent-chat></main><footer>About</footer>`)
      await page.getByText('Online').waitFor()
      expect(await page.getByRole('banner').count()).toBe(1)
      expect(await page.getByRole('contentinfo').count()).toBe(1)
      expect(await page.getByRole('region', { name: 'Ask us', exact: true }).count()).toBe(1)
      await page.evaluate(axe.source)
      const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())
      expect(violations.map(({ id }) => id)).toEqual([])
    } finally {
      await stage.close()
      await window.close()
    }
  })

  const checkAll = async (scenes: readonly Scene[], ...themes: readonly (keyof typeof THEMES)[]) => {
    const waiting = [...scenes]
    const found: string[] = []
    const play = async () => {
      for (let scene = waiting.shift(); scene; scene = waiting.shift()) found.push(...(await check(scene, themes)))
    }
    await Promise.all(Array.from({ length: LANES }, play))
    return found
  }

  it('[EL-14] finds nothing in any state, in light and in dark', { timeout: 240_000 }, async () => {
    const scenes = SCENES.filter(({ name }) => !REPEATED.has(name))
    expect(await checkAll(scenes, 'light', 'dark')).toEqual([])
  })

  it('[EL-14] finds nothing in any language', { timeout: 240_000 }, async () => {
    const scenes = LANGUAGES.map(lang => ({ name: lang, ...inLanguage(lang) }))
    expect(await checkAll(scenes, 'light')).toEqual([])
  })
})
