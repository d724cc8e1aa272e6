// Takes a picture of each state of the chat element: `npm run element-pictures`.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { launchChromium, prepareChromium } from '@aiagent/test-support/chromium'
import { bundleElements, openChatStage } from '../packages/elements/test/browser/chat-page.ts'
import { emulatorOf, playScene, SCENES, type Scene } from '../packages/elements/test/browser/scenes.ts'
import { readCommandLine, UsageError } from './command-line.ts'
import { ROOT } from './tools.ts'

const PICTURES = join(ROOT, 'docs', 'pictures')

const { folder, scenes } = readCommandLine(
  {
    name: 'element-pictures',
    about: 'Takes a picture of each state of the chat element.',
    words: {
      name: 'FOLDER NAME',
      help: 'where the pictures go, and the states, by default all. Without both, the pictures of docs/pictures again',
    },
    options: {},
  },
  ({ words: [folder, ...names] }) => {
    if (folder === undefined) return { folder: PICTURES, scenes: SCENES.filter(hasPicture) }
    const unknown = names.find(name => SCENES.every(scene => scene.name !== name))
    if (unknown === undefined)
      return { folder, scenes: SCENES.filter(({ name }) => names.length === 0 || names.includes(name)) }
    throw new UsageError(`There is no state "${unknown}". There are: ${SCENES.map(({ name }) => name).join(', ')}.`)
  },
)
mkdirSync(folder, { recursive: true })
await prepareChromium()
const chromium = await launchChromium()
const files = await bundleElements()
try {
  for (const scene of scenes) {
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

/** Whether docs/pictures has a picture of the state: those of the other states are only looked at. */
function hasPicture({ name }: Scene): boolean {
  return existsSync(join(PICTURES, `${name}.png`))
}
