import { describe, expect, it } from 'vitest'
import { createFakeIo, type FakeIo } from '../../test/fake-io.ts'
import { terminalPicture } from '../../test/terminal-picture.ts'
import { Screen } from './screen.ts'

const COLUMNS = 20

function open({ ansi = true } = {}) {
  const fake = createFakeIo({ columns: COLUMNS })
  const lines: string[] = []
  let isClosed = false
  const complete = (line: string) => ['/quit', '/state'].filter(each => each.startsWith(line || '?'))
  const screen = new Screen({ io: fake.io, ansi, prompt: '> ', complete })
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

  it('[ADOPT-20] takes a paste of several lines as one text, which Enter sends', () => {
    const { fake, lines, picture } = open()
    type(fake, 'see ')
    type(fake, '\u001b[200~one\r\ntwo\tx\rthree\n\u001b[201~')
    expect(lines).toEqual([])
    expect(picture()).toEqual(['> see one', 'two\tx', 'three'])
    type(fake, 'end\r')
    type(fake, 'next\r')
    expect(lines).toEqual(['see one\ntwo\tx\nthree\nend', 'next'])
  })

  it('[ADOPT-20] asks a terminal to mark pastes, and no longer when it closes', () => {
    const fake = createFakeIo({ columns: COLUMNS })
    Object.assign(fake.io.stdin, { setRawMode() {} })
    const screen = new Screen({ io: fake.io, ansi: true, prompt: '> ' })
    screen.open({ onLine() {}, onClose() {} })
    expect(fake.out()).toContain('\u001b[?2004h')
    screen.close()
    expect(fake.out().endsWith('\u001b[?2004l\n')).toBe(true)
  })

  it('[ADOPT-21] clears a line that was begun at Ctrl-C, and closes at the next', () => {
    const { fake, lines, isClosed, picture } = open()
    type(fake, 'abcdefghijklmnopqrstuvwxyz\u001b[D')
    type(fake, '\u0003')
    expect([isClosed(), picture()]).toEqual([false, ['>']])
    type(fake, 'hello\r')
    expect(lines).toEqual(['hello'])
    type(fake, '\u0003')
    expect(isClosed()).toBe(true)
  })

  it.each(['👩\u200d🔧', '👍🏽', '🇩🇪', 'e\u0301'])('[ADOPT-21] removes %s with one Backspace', character => {
    const { fake, lines } = open()
    type(fake, `a${character}\u007f`)
    type(fake, 'b\r')
    expect(lines).toEqual(['ab'])
  })

  it('[ADOPT-21] completes a command with Tab', () => {
    const { fake, lines } = open()
    type(fake, '/q\t')
    type(fake, '\r')
    type(fake, 'no\t')
    type(fake, '\r')
    expect(lines).toEqual(['/quit', 'no'])
  })

  it('[ADOPT-22] keeps the status in one row, and breaks lines, for the width to which the terminal has changed', () => {
    const { screen, fake } = open()
    screen.setStatus('Support is typing…')
    Object.assign(fake.io.stdout, { columns: 10 })
    const before = fake.out().length
    fake.io.stdout.emit('resize')
    expect(fake.out().slice(before)).toContain('Support i\n')
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
