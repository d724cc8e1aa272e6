import type { AiAgentConfig } from '@aiagent/client'
import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { bubbles, type ChatStage, received, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

describe.skipIf(!hasChromium())('the text field of <ai-agent-chat>', () => {
  const stages = chatStages()
  let stage: ChatStage

  /** Adds a chat with the agent of the host app. */
  const addChat = (page: Page) =>
    page.evaluate(() => {
      const chat = document.createElement('ai-agent-chat')
      chat.agent = Object(globalThis).agent
      document.body.append(chat)
    })
  /** Creates an agent of the host app, which is global. */
  const addAgent = async (page: Page, options: Partial<AiAgentConfig> = {}) => {
    await page.waitForFunction(() => customElements.get('ai-agent-chat') && Object(globalThis).sdk)
    await page.evaluate(config => Object.assign(globalThis, { agent: new (Object(globalThis).sdk.AiAgent)(config) }), {
      id: 'help',
      endpoint: stage.service.url,
      resume: true,
      ...options,
    })
  }
  /** A page with such an agent, and a chat that shows it. */
  const openWithAgent = async (options?: Partial<AiAgentConfig>) => {
    const { page } = await stage.open('', { search: '?sdk' })
    await addAgent(page, options)
    await addChat(page)
    await page.getByText('Online').waitFor()
    return page
  }

  /** Types into the first chat and removes it, in one task: no pause in which the draft could have been stored. */
  const typeAndRemove = (page: Page, text: string) =>
    page.evaluate(text => {
      const chat = document.querySelector('ai-agent-chat') as HTMLElement
      const area = chat.shadowRoot?.querySelector('textarea') as HTMLTextAreaElement
      area.value = text
      area.dispatchEvent(new InputEvent('input', { bubbles: true }))
      chat.remove()
    }, text)

  it('[EL-03] keeps what was typed just before the chat was removed', async () => {
    stage = await stages.open()
    const { page } = await stage.open('<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>')
    await page.getByText('Online').waitFor()
    await page.evaluate(() => Object.assign(globalThis, { chat: document.querySelector('ai-agent-chat') }))
    for (const text of ['half a sent', 'half a sentence']) {
      await typeAndRemove(page, text)
      await page.evaluate(() => document.body.append(Object(globalThis).chat))
      await expect.poll(() => page.getByRole('textbox').inputValue()).toBe(text)
    }
    // The agent of a host app outlives its chat.
    const host = await openWithAgent()
    await typeAndRemove(host, 'half')
    await expect
      .poll(() => host.evaluate(() => Object(globalThis).agent.getSessionData()))
      .toMatchObject({ draft: 'half' })
    await addChat(host)
    await expect.poll(() => host.getByRole('textbox').inputValue()).toBe('half')
  })

  it('[EL-23] is empty after a sign-out: what a user was writing is not for the next one', async () => {
    stage = await stages.open()
    const page = await openWithAgent()
    const field = page.getByRole('textbox')
    const signOut = () => page.evaluate(() => Object(globalThis).agent.logout())
    const signInAgain = async () => {
      await page.evaluate(() => document.querySelector('ai-agent-chat')?.view?.start())
      await page.getByText('Online').waitFor()
    }
    await write(page, 'hello')
    await expect.poll(() => bubbles(page)).toEqual(['hello', 'You said: hello'])
    await field.fill('of the first')
    await signOut()
    await signInAgain()
    await page.getByText('How can we help?').waitFor()
    expect(await field.inputValue()).toBe('')
    await field.fill('of the second')
    await page.reload()
    await addAgent(page)
    await addChat(page)
    await expect.poll(() => field.inputValue()).toBe('of the second')
  })

  it('[EL-23] stores nothing of a draft that waited to be stored when its user signed out', async () => {
    stage = await stages.open()
    const page = await openWithAgent()
    await write(page, 'hello')
    await expect.poll(() => bubbles(page)).toEqual(['hello', 'You said: hello'])
    const draft = await page.evaluate(async () => {
      const chat = document.querySelector('ai-agent-chat')
      const field = chat?.shadowRoot?.querySelector('textarea') as HTMLTextAreaElement
      field.value = 'of the first'
      // The pause has no end, however long the sign-out takes.
      const { setTimeout } = globalThis
      Object.assign(globalThis, { setTimeout: () => 0 })
      field.dispatchEvent(new Event('input', { bubbles: true }))
      Object.assign(globalThis, { setTimeout })
      await Object(globalThis).agent.logout()
      await chat?.view?.start()
      // What waits is stored when the page is left.
      document.dispatchEvent(new Event('visibilitychange'))
      return chat?.view?.getSnapshot().draft
    })
    expect(draft).toBe('')
    await page.getByText('Online').waitFor()
    await page.reload()
    await addAgent(page)
    await addChat(page)
    await page.getByText('Online').waitFor()
    expect(await page.getByRole('textbox').inputValue()).toBe('')
  })

  it('[EL-23] gives a message that a sign-out has ended to no other user', async () => {
    stage = await stages.open()
    const page = await openWithAgent()
    const values = await page.evaluate(async () => {
      const chat = document.querySelector('ai-agent-chat')
      const field = chat?.shadowRoot?.querySelector('textarea') as HTMLTextAreaElement
      field.value = 'of the first'
      field.dispatchEvent(new InputEvent('input', { bubbles: true }))
      await new Promise(resolve => setTimeout(resolve))
      const { agent } = Object(globalThis)
      // Whatever the agent makes of it.
      agent.send = () => agent.logout().then(() => Promise.reject(new Error('Too late.')))
      field.dispatchEvent(new KeyboardEvent('keydown', { keyCode: 13, bubbles: true, cancelable: true }))
      const isSent = field.value === ''
      await agent.logout()
      await new Promise(resolve => setTimeout(resolve))
      return [isSent, field.value]
    })
    expect(values).toEqual([true, ''])
  })

  it('[EL-02] gives a refused message back, but never over what was typed meanwhile', async () => {
    stage = await stages.open()
    const page = await openWithAgent({ maxQueueSize: 1 })
    stage.service.emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
    stage.service.emulator.control.dropSockets()
    await expect.poll(() => page.evaluate(() => Object(globalThis).agent.isConnected())).toBe(false)
    await page.evaluate(() => Object(globalThis).agent.send('waits'))
    const field = page.getByRole('textbox')
    await field.fill('one more')
    await field.press('Enter')
    await expect.poll(() => field.inputValue()).toBe('one more')
    await page.evaluate(async () => {
      const chat = document.querySelector('ai-agent-chat')
      const area = chat?.shadowRoot?.querySelector('textarea') as HTMLTextAreaElement
      area.dispatchEvent(new KeyboardEvent('keydown', { keyCode: 13, bubbles: true, cancelable: true }))
      area.value = 'typed meanwhile'
      area.dispatchEvent(new InputEvent('input', { bubbles: true }))
      // Refused after the message of the text field.
      await chat?.view?.send('another').catch(() => {})
    })
    expect(await field.inputValue()).toBe('typed meanwhile')
  })

  it('[EL-60] keeps the keys with which the user writes from the page, and no others', async () => {
    stage = await stages.open()
    const { page } = await stage.open(
      `<ai-agent-chat endpoint="ENDPOINT" agent-id="help" show-copy><label slot="empty">Name <input></label></ai-agent-chat>
       <script>
         const seen = []
         for (const name of ['keydown', 'keypress', 'keyup']) addEventListener(name, ({ type, key }) => seen.push(type + ' ' + key))
       </script>`,
    )
    await page.getByText('Online').waitFor()
    const seen = () => page.evaluate('seen.splice(0)')
    const field = page.getByRole('textbox', { name: 'Your message' })
    await field.focus()
    for (const key of ['s', '/', '?', 'Backspace', 'Shift+Enter']) await page.keyboard.press(key)
    expect(await seen()).toEqual(['keydown Shift', 'keyup Shift'])
    await page.keyboard.press('Escape')
    await page.keyboard.press('F2')
    await page.keyboard.press('Control+k')
    expect(await seen()).toEqual(
      ['Escape', 'F2', 'Control', 'k']
        .flatMap(key => [`keydown ${key}`, ...(key === 'Control' ? [] : [`keyup ${key}`])])
        .concat('keyup Control'),
    )
    /** Which of these keys reach the page. */
    const passing = (inits: readonly { key: string }[]) =>
      page
        .evaluate(inits => {
          const { shadowRoot } = document.querySelector('ai-agent-chat') as HTMLElement
          const target = shadowRoot?.querySelector('textarea')
          for (const init of inits)
            for (const type of ['keydown', 'keyup'])
              target?.dispatchEvent(new KeyboardEvent(type, { bubbles: true, composed: true, ...init }))
          // A browser that fills in a field reports events without a key.
          target?.dispatchEvent(new Event('keydown', { bubbles: true, composed: true }))
        }, inits)
        .then(seen)
    const ended = [
      { key: '@', modifierAltGraph: true },
      { key: '@', modifierAltGraph: true, ctrlKey: true, altKey: true },
      { key: 'Dead' },
      { key: 'Process', isComposing: true },
      { key: 'Escape', isComposing: true },
      { key: 'Unidentified', keyCode: 229 },
      { key: 'é' },
      { key: 'か' },
      { key: '👍🏽' },
    ]
    expect(await passing(ended)).toEqual([])
    const others = ['Tab', 'ArrowUp', 'F10', 'PageDown'].map(key => ({ key }))
    const shortcuts = [
      { key: 's', altKey: true },
      { key: 's', metaKey: true },
      { key: 'Enter', ctrlKey: true },
    ]
    expect(await passing([...others, ...shortcuts])).toHaveLength(14)
    // Slotted nodes and buttons are not the element's text fields.
    await page.getByRole('textbox', { name: 'Name' }).press('s')
    expect(await seen()).toEqual(['keydown s', 'keypress s', 'keyup s'])
    await page.getByRole('button', { name: 'Send' }).press('s')
    expect(await seen()).toEqual(['keydown s', 'keypress s', 'keyup s'])
    await field.fill('hello')
    await page.keyboard.press('Enter')
    await expect.poll(() => bubbles(page)).toEqual(['hello', 'You said: hello'])
    expect(await seen()).toEqual([])
  })

  it('[EL-10] sends nothing with the key that ends the composition of a text', async () => {
    stage = await stages.open()
    const page = await openWithAgent()
    await page.getByRole('textbox').fill('nihongo')
    /** Presses Enter as an input method lets it through. */
    const press = (init: { keyCode?: number; isComposing?: boolean }) =>
      page.evaluate(init => {
        const root = document.querySelector('ai-agent-chat')?.shadowRoot
        const event = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ...init })
        root?.querySelector('textarea')?.dispatchEvent(event)
        return event.defaultPrevented
      }, init)
    // Safari says so by the code alone.
    expect(await press({ keyCode: 229 })).toBe(false)
    expect(await press({ isComposing: true })).toBe(false)
    expect(await press({ keyCode: 13 })).toBe(true)
    await expect.poll(() => bubbles(page)).toEqual(['nihongo', 'You said: nihongo'])
    expect(received(stage.service).texts).toEqual(['nihongo'])
  })

  it('[EL-88] brings the last text back with the arrow key, into the empty field alone, for the same user', async () => {
    stage = await stages.open()
    const page = await openWithAgent()
    const field = page.getByRole('textbox')
    await field.focus()
    await page.keyboard.press('ArrowUp')
    expect(await field.inputValue()).toBe('')
    await write(page, 'hello')
    await page.keyboard.press('Shift+ArrowUp')
    expect(await field.inputValue()).toBe('')
    await page.keyboard.press('ArrowUp')
    expect(await field.inputValue()).toBe('hello')
    await field.fill('more')
    await page.keyboard.press('ArrowUp')
    expect(await field.inputValue()).toBe('more')
    await field.fill('')
    await page.evaluate(() => Reflect.get(window, 'agent').logout())
    await page.evaluate(() => document.querySelector('ai-agent-chat')?.view?.start())
    await field.focus()
    await page.keyboard.press('ArrowUp')
    expect(await field.inputValue()).toBe('')
  })
})
