import { describe, expect, it } from 'vitest'
import { createFakeIo, type FakeIo } from '../../test/fake-io.ts'
import { terminalPicture } from '../../test/terminal-picture.ts'
import { Screen } from './screen.ts'

const COLUMNS = 20

function open({ ansi = true } = {}) {
  const fake = createFakeIo({ columns: COLUMNS })
  const lines: string[] = []
  let isClosed = false
  const screen = new Screen({ io: fake.io, ansi, prompt: '> ' })
  screen.open({ onLine: line => lines.push(line), onClose: () => (isClosed = true) })
  return { screen, fake, lines, isClosed: () => isClosed, picture: () => terminalPicture(fake.out(), COLUMNS) }
}

const type = (fake: FakeIo, text: string) => fake.stdin.emit('data', Buffer.from(text))

describe('Screen', () => {
  it.each([
    ['a short line', 'hello', ['> hello']],
    [
      'a line over several rows, pasted at once',
      'abcdefghijklmnopqrstuvwxyz'.repeat(2),
      ['> abcdefghijklmnopqr', 'stuvwxyzabcdefghijkl', 'mnopqrstuvwxyz'],
    ],
    ['a line that fills its row', 'abcdefghijklmnopqr', ['> abcdefghijklmnopqr']],
  ])('prints above %s that is being typed', (_what, typed, rows) => {
    const { screen, fake, picture } = open()
    type(fake, typed)
    screen.print('An answer\nof two rows')
    expect(picture()).toEqual(['An answer', '  of two rows', ...rows])
    screen.setStatus('typing')
    screen.print('More')
    expect(picture()).toEqual(['An answer', '  of two rows', 'More', 'typing', ...rows])
    screen.setStatus(undefined)
    expect(picture()).toEqual(['An answer', '  of two rows', 'More', ...rows])
  })

  it('keeps the place of the cursor within the line', () => {
    const { screen, fake, lines } = open()
    type(fake, 'held')
    type(fake, '\u001b[D')
    screen.print('An answer')
    for (const key of 'lo wor') type(fake, key)
    type(fake, '\r')
    expect(lines).toEqual(['hello word'])
  })

  it('leaves an entered line on the screen without the status that stood above it', () => {
    const { screen, fake, lines, picture } = open()
    screen.setStatus('typing')
    type(fake, 'hello\r')
    expect(lines).toEqual(['hello'])
    expect(picture()).toEqual(['> hello', '>'])
  })

  it('[SEC-40] shows a status in one row: no row of it looks like the prompt', () => {
    const { screen, fake, picture } = open()
    type(fake, 'held')
    screen.setStatus(`${'x'.repeat(COLUMNS)}> fake is typing`)
    expect(picture()).toEqual(['x'.repeat(COLUMNS - 1), '> held'])
    screen.print('An answer')
    expect(picture()).toEqual(['An answer', 'x'.repeat(COLUMNS - 1), '> held'])
  })

  it('brings an earlier line back', () => {
    const { fake, lines } = open()
    type(fake, 'hello\r')
    type(fake, '\u001b[A')
    type(fake, '\r')
    expect(lines).toEqual(['hello', 'hello'])
  })

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('closes at %s', (_name, key) => {
    const { screen, fake, isClosed } = open()
    type(fake, key)
    expect(isClosed()).toBe(true)
    screen.print('Goodbye')
    expect(fake.out()).toMatch(/\nGoodbye\n$/)
  })

  it('returns single lines first, and passes unread ones to the listener', async () => {
    const fake = createFakeIo({ columns: COLUMNS })
    const screen = new Screen({ io: fake.io, ansi: true, prompt: '> ' })
    const first = screen.readLine(fake.io.interrupted)
    type(fake, 'one\rtwo\rthree\r')
    expect([await first, await screen.readLine(fake.io.interrupted)]).toEqual(['one', 'two'])
    const lines: string[] = []
    screen.open({ onLine: line => lines.push(line), onClose: () => lines.push('closed') })
    type(fake, 'four\r\u0004')
    expect(lines).toEqual(['three', 'four', 'closed'])
  })

  it('resolves a read with undefined when the user exits, or on abort', async () => {
    const fake = createFakeIo({ columns: COLUMNS })
    const screen = new Screen({ io: fake.io, ansi: true, prompt: '> ' })
    const line = screen.readLine(fake.io.interrupted)
    fake.interrupt()
    expect([await line, await screen.readLine(fake.io.interrupted)]).toEqual([undefined, undefined])
    let isClosed = false
    screen.open({ onLine: () => {}, onClose: () => (isClosed = true) })
    expect(isClosed).toBe(true)
  })

  it('writes no escape code to an output that takes none', async () => {
    const { screen, fake, lines } = open({ ansi: false })
    screen.setStatus('typing')
    screen.print('An answer')
    type(fake, 'hello\n')
    expect(lines).toEqual(['hello'])
    expect(fake.out()).toBe('An answer\n')
  })
})
