// Makes the pictures of the README from the playground, in a real browser: `npm run pictures`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launchChromium, servePages } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import UPNG from 'upng-js'
import { findPageFiles } from '../packages/cli/src/playground/page-files.ts'
import { readCommandLine } from './command-line.ts'
import { ROOT } from './tools.ts'

const FOLDER = join(ROOT, 'docs', 'pictures')
const QUESTION = 'How do I reset my router?'
const MEANWHILE = 'How long is the warranty?'

readCommandLine(
  {
    name: 'pictures',
    about:
      'Makes the pictures of the README from the playground, in a real browser, and writes them into docs/pictures.',
    options: {},
  },
  () => {},
)
const files = findPageFiles()
if (!files) throw new Error('The playground is missing.')
await files.prepare(() => console.log('Building the playground.'))
const names = readdirSync(files.folder, { recursive: true, encoding: 'utf8' }).filter(name => name.includes('.'))
const pages = names.map(name => [`/${name}`, readFileSync(join(files.folder, name), 'utf8')] as const)
const server = await servePages(Object.fromEntries(pages))
const chromium = await launchChromium({
  context: { viewport: { width: 1440, height: 820 }, reducedMotion: 'reduce', locale: 'en-GB' },
})
try {
  write('conversation-with-a-cut.png', animate(await holdConversation(await chromium.newPage())))
} finally {
  await Promise.all([chromium.close(), server.close()])
}

/** A picture of the page, and for how long it is shown. */
interface Shot {
  readonly file: Buffer
  readonly ms: number
}

/** An animated PNG. */
function animate(shots: readonly Shot[]): Buffer {
  const pictures = shots.map(({ file }) => UPNG.decode(new Uint8Array(file).buffer))
  const frames = pictures.flatMap(picture => UPNG.toRGBA8(picture))
  const [first] = pictures
  if (!first) throw new Error('An animation needs a picture.')
  const delays = shots.map(({ ms }) => ms)
  return Buffer.from(UPNG.encode(frames, first.width, first.height, 0, delays))
}

/** A conversation whose connection breaks during an answer, shot by shot; saves the still picture on the way. */
async function holdConversation(page: Page): Promise<Shot[]> {
  const shots: Shot[] = []
  const show = async (ms: number) => {
    shots.push({ file: await page.screenshot({ caret: 'initial' }), ms })
  }
  const chat = page.locator('ai-agent-chat')
  const field = chat.getByRole('textbox')
  const press = (name: string) =>
    page.getByLabel('Faults', { exact: true }).getByRole('button', { name, exact: true }).click()
  const isIn = (code: string) => page.locator('.status-facts').getByText(code, { exact: true }).waitFor()
  const reads = (text: string) => chat.getByText(text).first().waitFor()

  await page.goto(`${server.url}/index.html`)
  await isIn('connected')
  await page.getByLabel('Time for an answer').fill('6000')
  await show(1200)
  await field.fill(QUESTION)
  await show(700)
  await field.press('Enter')
  await chat.getByText('is writing').last().waitFor()
  await show(900)
  await press('Refuse')
  await press('Cut')
  await isIn('reconnecting')
  if (await chat.getByText('press the hidden reset button').count())
    throw new Error('The answer arrived before the cut, because the machine is busy. Run this again.')
  await show(900)
  await field.fill(MEANWHILE)
  await show(700)
  await field.press('Enter')
  await page.locator('.queue', { hasText: '1 queued' }).waitFor()
  await page.getByRole('tab', { name: 'Delivery' }).click()
  await show(1300)
  // The service may be reached again after the first attempts have failed.
  await page.locator('.explanation', { hasText: 'HTTP status 503' }).waitFor()
  await show(1200)
  await press('Mend all')
  await isIn('connected')
  await show(900)
  await reads('press the hidden reset button')
  await show(1200)
  await reads('a warranty of three years')
  await page.locator('.delivery', { hasText: MEANWHILE }).getByText('sent', { exact: true }).waitFor()
  await show(3000)
  await page.getByRole('tab', { name: 'Frames' }).click()
  write('playground.png', await page.screenshot())
  return shots
}

function write(name: string, data: Buffer): void {
  writeFileSync(join(FOLDER, name), data)
  console.log(`docs/pictures/${name}: ${Math.round(data.length / 1000)} kB`)
}
