// A page with a chat in a real Chromium: a question, its answer with a link to the source, and the same conversation after a reload.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { serveEmulator } from '@aiagent/emulator/node'
import {
  bundleModulesForPage,
  HOW_TO_GET_CHROMIUM,
  hasChromium,
  launchChromium,
  servePages,
} from '@aiagent/test-support/chromium'

if (hasChromium()) {
  await using service = await serveEmulator()
  const source = new URL('pages/chat.ts', import.meta.url)
  const scripts = await bundleModulesForPage(await readFile(source, 'utf8'), { importer: source.href })
  const files = Object.entries(scripts).map(([name, code]) => [`/${name}`, code])
  const server = await servePages({
    '/chat': '<!doctype html><title>Chat</title><body><script type="module" src="/entry.js"></script>',
    ...Object.fromEntries(files),
  })
  const chromium = await launchChromium()
  try {
    const page = await chromium.newPage()
    const errors: string[] = []
    page.on('pageerror', error => errors.push(error.message))

    await page.goto(`${server.url}/chat?endpoint=${encodeURIComponent(service.url)}`)
    await page.getByLabel('Message').fill('How do I reset my router?')
    await page.keyboard.press('Enter')
    await page.getByText(/press the hidden reset button/).waitFor()
    const link = page.getByRole('link', { name: 'How to reset your router' })
    assert.equal(await link.getAttribute('href'), 'https://help.router-shop.example/reset')

    await page.reload()
    await page.getByText(/press the hidden reset button/).waitFor()
    assert.equal(service.emulator.world.sessions.size, 1)
    assert.deepEqual(errors, [])
    console.log('The page asked, showed the answer with its source, and kept the conversation over a reload.')
  } finally {
    await Promise.all([chromium.close(), server.close()])
  }
} else console.log(`Skipped: no Chromium. ${HOW_TO_GET_CHROMIUM}`)
