import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createConversation } from '@aiagent/adapters/solid'
import { useConversation } from '@aiagent/adapters/vue'
import { AiAgent } from '@aiagent/client'
import { createConversationView } from '@aiagent/view'
import { renderToString as renderSolid } from 'solid-js/web'
import { compile } from 'svelte/compiler'
import { afterAll, expect, it } from 'vitest'
import { createSSRApp, defineComponent, effectScope, h, reactive, ref } from 'vue'
import { renderToString as renderVue } from 'vue/server-renderer'
import type { ReactVersion } from '../bindings.ts'
import { isConnected } from '../is-connected.ts'
import { holdConversation } from './conversation.ts'
import { takePicture } from './look.ts'
import { buildExample, launchChromium, openSite, received, unexpected } from './pages.ts'
import { smallChat } from './small-chat.ts'

const chromium = await launchChromium()
const passed: string[] = []
afterAll(async () => {
  await chromium.close()
  console.log(['Frameworks that hold the conversation:', ...passed].join('\n'))
})

/** A view without a service, and the number of its listeners. */
function countedView() {
  const view = createConversationView(new AiAgent({ id: 'help', endpoint: 'https://agents.example.test' }))
  let count = 0
  const subscribe = (listener: () => void) => {
    const undo = view.subscribe(listener)
    count++
    return () => {
      undo()
      count--
    }
  }
  return { view: { ...view, subscribe }, count: () => count }
}

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))

/** A page in a framework, and the folder of the library that it is tried with. */
interface Subject {
  readonly framework: string
  readonly page: string
  readonly library: string
  readonly react?: ReactVersion
}

const SUBJECTS: readonly Subject[] = [
  { framework: 'React 18', page: 'examples/react', library: 'react-18/node_modules/react', react: '18' },
  { framework: 'React', page: 'examples/react', library: 'node_modules/react' },
  { framework: 'Vue', page: 'templates/vue', library: 'node_modules/vue' },
  { framework: 'Svelte', page: 'examples/svelte', library: 'node_modules/svelte' },
  { framework: 'Angular', page: 'examples/angular', library: 'node_modules/@angular/core' },
  { framework: 'Solid', page: 'examples/solid', library: 'node_modules/solid-js' },
]

it.each(SUBJECTS)(
  '$framework holds the conversation, shows it again after a reload, and listens only while the chat is open',
  async ({ framework, page: folder, library, react }) => {
    const files = await buildExample(folder, react, { '@aiagent/view': path('pages/counted-view.ts') })
    const stage = await openSite(chromium, files)
    const { page, service } = stage
    const { chat } = smallChat(stage)
    await holdConversation(stage, chat)
    await takePicture(page, framework)

    const texts = await chat.texts()
    await page.reload()
    await expect.poll(chat.texts).toEqual(texts)
    await expect.poll(() => page.getByRole('button', { name: 'Helpful', pressed: true }).count()).toBe(1)

    const listeners = () => page.evaluate(() => listenerCount)
    const toggle = page.getByRole('button', { name: 'Chat', exact: true })
    const count = await listeners()
    expect(count).toBeGreaterThan(0)
    await toggle.click()
    await expect.poll(listeners).toBe(0)
    await expect.poll(() => isConnected(service.emulator)).toBe(false)
    await toggle.click()
    await expect.poll(chat.texts).toEqual(texts)
    expect(await listeners()).toBe(count)
    await chat.send('again')
    await expect.poll(chat.texts).toEqual([...texts, 'again', 'You said: again'])
    expect(received(service).sessionCalls).toBe(1)
    expect(unexpected(stage)).toEqual([])
    await stage.close()

    const { version } = JSON.parse(readFileSync(path(`${library}/package.json`), 'utf8')) as { version: string }
    passed.push(`${framework.padEnd(10)} ${version}`)
  },
)

it.each(['Chat.svelte', 'App.svelte'])('the example %s compiles without a warning', name => {
  const { warnings } = compile(readFileSync(path(`examples/svelte/${name}`), 'utf8'), { filename: name })
  expect(warnings.map(({ code }) => code)).toEqual([])
})

it('a rendering on a server leaves no listener, with Vue', async () => {
  const { view, count } = countedView()
  const page = defineComponent(() => {
    const snapshot = useConversation(view)
    return () => h('p', snapshot.value.connection.state)
  })
  expect(await renderVue(createSSRApp(page))).toBe('<p>idle</p>')
  expect(count()).toBe(0)
})

it('a rendering on a server leaves no listener, with Solid', async () => {
  const { view, count } = countedView()
  expect(renderSolid(() => createConversation(view)().connection.state)).toBe('idle')
  await expect.poll(count).toBe(0)
})

it('an agent in ref() and reactive() is used as it is', () => {
  const agent = new AiAgent({ id: 'help', endpoint: 'https://agents.example.test' })
  const heard: unknown[] = []
  const kept = reactive({ agent, list: [ref(agent).value] })
  kept.agent.on('transcriptCleared', () => heard.push('cleared'))
  for (const each of [kept.agent, kept.list[0]]) each?.clearTranscript()
  expect(heard).toEqual(['cleared', 'cleared'])
})

it('a ref outside of components listens until its effect scope ends', () => {
  const { view, count } = countedView()
  const scope = effectScope()
  const snapshot = scope.run(() => useConversation(view))
  view.setDraft('hello')
  expect(snapshot?.value.draft).toBe('hello')
  expect(count()).toBe(1)
  scope.stop()
  expect(count()).toBe(0)
})
