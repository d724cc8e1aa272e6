import { afterAll, expect, it } from 'vitest'
import { areReachable, expectReadable, pixelsOf, regionOf, takePicture } from './look.ts'
import { buildExample, launchChromium, openSite } from './pages.ts'

const chromium = await launchChromium()
afterAll(() => chromium.close())

it.each(['react', 'ai-sdk', 'assistant-ui'])(
  'the example %s shows messages, options and the offline line',
  async name => {
    const window = await chromium.newWindow()
    const { page, close } = await openSite(window, await buildExample(`examples/${name}`))
    await page.setViewportSize({ width: 480, height: 640 })
    const bubbles = page.locator('.user, .agent')
    const write = async (text: string, answers: number) => {
      const count = await bubbles.count()
      await page.getByLabel('Message').fill(text)
      await page.getByRole('button', { name: 'Send' }).click()
      await expect.poll(() => bubbles.count()).toBe(count + 1 + answers)
    }
    // More than the page is high, so that the last messages show only when the list scrolls.
    for (const text of ['hello', 'a second message', 'a third message', 'a fourth message']) await write(text, 1)
    await write('options', 2)
    const options = page.getByRole('button', { name: /^(Red|Blue)$/ })
    await expect.poll(() => areReachable(options)).toEqual([true, true])
    expect(await areReachable(bubbles.last())).toEqual([true])
    expect(await areReachable(page.getByRole('button', { name: 'Send' }))).toEqual([true])

    const online = await takePicture(page, `${name}-online`)
    const [red, blue] = [options.first(), options.last()]
    const answer = bubbles.last().locator('p')
    const question = page.locator('.user p').last()
    await expectReadable(page, { red, blue, answer, question })

    await page.context().setOffline(true)
    const line = page.getByRole('status')
    await expect.poll(() => line.textContent()).toContain('You are offline.')
    const offline = await takePicture(page, `${name}-offline`)
    const region = await regionOf(line)
    expect(await areReachable(line)).toEqual([true])
    const { difference } = await pixelsOf(page, offline, region, online)
    expect(difference).toBeGreaterThan(0.5)
    await expectReadable(page, { line })
    expect(await areReachable(options)).toEqual([true, true])
    await page.context().setOffline(false)
    await expect.poll(() => line.count()).toBe(0)
    await close()
    await window.close()
  },
)
