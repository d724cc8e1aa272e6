// Takes a picture of each state of the chat element: `npm run element-pictures [-- FOLDER [NAME …]]`. The default folder is docs/pictures.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { launchChromium, prepareChromium } from '@aiagent/test-support/chromium'
import { bundleElements, openChatStage } from '../packages/elements/test/browser/chat-page.ts'
import { emulatorOf, playScene, SCENES } from '../packages/elements/test/browser/scenes.ts'
import { ROOT } from './tools.ts'

const [folder = join(ROOT, 'docs', 'pictures'), ...names] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
await prepareChromium()
const chromium = await launchChromium()
const files = await bundleElements()
try {
  for (const scene of SCENES) {
    if (names.length > 0 && !names.includes(scene.name)) continue
    const window = await chromium.newWindow()
    const stage = await openChatStage(window.context, files, emulatorOf(scene))
    try {
      const { page } = await playScene(scene, stage)
      // The pointer would show where it rests, and an animation half of itself.
      await page.mouse.move(0, 0)
      await page.screenshot({ path: join(folder, `${scene.name}.png`), animations: 'disabled', caret: 'hide' })
      console.log(scene.name)
    } catch (error) {
      console.error(`${scene.name}: ${error}`)
      process.exitCode = 1
    } finally {
      await stage.close()
      await window.close()
    }
  }
} finally {
  await chromium.close()
}
