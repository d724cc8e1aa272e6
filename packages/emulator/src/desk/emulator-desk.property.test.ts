import { eventually, propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEmulator } from '../emulator.ts'
import { createMemoryStore } from '../state/state-store.ts'
import { emulatorDesk } from './emulator-desk.ts'

const STEPS = ['send', 'say', 'restart', 'crash', 'reload', 'refuse', 'lose the answer', 'wait'] as const

describe('a chat at the desk, in any order of messages, reloads, restarts, refusals and lost answers', () => {
  it('[PLAY-10] has each message once and in order', async () => {
    const steps = fc.array(fc.constantFrom(...STEPS), { minLength: 5, maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(steps, async given => {
        const store = createMemoryStore()
        let emulator = createEmulator({ store })
        const openDesk = emulatorDesk({ url: emulator.origin, fetch: (...call) => emulator.fetch(...call) })
        /** Texts by id, in the order of their arrival: a view shows an id once. */
        const heard = new Map<string, string>()
        const sent: string[] = []
        const said: string[] = []
        const confirmations: Promise<void>[] = []
        const open = (handle?: string) => {
          const controller = new AbortController()
          const { signal } = controller
          const live = openDesk({ type: 'live' }, handle === undefined ? { signal } : { handle, signal })
          if (!live) throw new Error('There is no desk.')
          const reading = (async () => {
            for await (const { id, text } of live.messages)
              if (id !== undefined && text !== undefined && !heard.has(id)) heard.set(id, text)
          })()
          return { live, reading, leave: () => controller.abort() }
        }
        const chat = () => emulator.desk.chats[0]
        let page = open()
        await eventually(chat, 'the chat')

        for (const [index, step] of given.entries()) {
          if (step === 'send') {
            sent.push(`u${index}`)
            confirmations.push(page.live.send(`u${index}`))
          }
          if (step === 'say') {
            said.push(`c${index}`)
            chat()?.say(`c${index}`)
          }
          if (step === 'restart') emulator.faults.add({ kind: 'restart' })
          if (step === 'crash') {
            emulator.close()
            emulator = createEmulator({ store })
          }
          if (step === 'reload') {
            // What a page has not sent when it ends is lost with it, and a view says so.
            await Promise.all(confirmations)
            page.leave()
            await page.reading
            page = open(page.live.handle)
          }
          if (step === 'lose the answer')
            emulator.faults.add({ kind: 'truncate-body', route: '*/live-desk/*', times: 1 })
          if (step === 'refuse') emulator.faults.add({ kind: 'answer', status: 503, route: '*/live-desk/*', times: 1 })
          if (step === 'wait') await new Promise(resolve => setImmediate(resolve))
        }

        emulator.faults.lift()
        await Promise.all(confirmations)
        await eventually(() => heard.size === said.length, 'the texts of the colleague')
        expect([...heard.values()]).toEqual(said)
        expect(chat()?.messages.flatMap(({ from, text }) => (from === 'customer' ? [text] : []))).toEqual(sent)
        expect(emulator.desk.chats).toHaveLength(1)
        page.leave()
        emulator.close()
      }),
      { numRuns: propertyRuns(15), examples: [[['send', 'crash', 'say', 'reload', 'say', 'lose the answer', 'send']]] },
    )
  })
})
