import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { terminalPicture } from '../test/terminal-picture.ts'
import { createStyle, formatAgentMessage } from './output.ts'
import { renderText } from './terminal-text.ts'
import { wrapText } from './wrap-text.ts'

/** An answer as a terminal of some columns shows it, without its colours. */
function shown(content: string, columns?: number): string {
  const message = {
    persona: 'agent',
    role: 'ai',
    content,
    raw: {},
    showReasoning: false,
    showFeedback: false,
    showOptions: false,
  }
  const text = renderText(formatAgentMessage('Help', message, createStyle(true)))
  return stripVTControlCharacters(wrapText(text, columns))
}

describe('an answer in a terminal', () => {
  it('keeps the meaning of its Markdown', () => {
    const markdown = `# Reset
Hold the **button**, *not* the \`WPS\` key:

1. Unplug it.
2. Wait:
   - ten seconds, or
   - until [the lamp](https://a.test/lamp) is off.

\`\`\`sh
ping 192.168.0.1
\`\`\`

> Old models need a pin.

| Model | Time |
|---|---|
| A1 | 10 s |

- [x] done
See https://a.test/help & enjoy.`
    expect(shown(markdown)).toBe(`Help: Reset

  Hold the button, not the WPS key:

  1. Unplug it.
  2. Wait:
     • ten seconds, or
     • until the lamp <https://a.test/lamp> is off.

      ping 192.168.0.1

  │ Old models need a pin.

  Model: A1
  Time: 10 s

  • [x] done
        See https://a.test/help & enjoy.`)
  })

  it('is wrapped between words, and further lines begin below the text', () => {
    expect(shown('Hold the button for ten seconds.\n\n- Unplug it, then plug it in again.', 24)).toBe(
      `Help: Hold the button
  for ten seconds.

  • Unplug it, then plug
    it in again.`,
    )
  })

  it('is a list of commands, whose descriptions stay in their column', () => {
    const help = '  /state       show the connection, the session and what waits\n  /quit        leave'
    expect(wrapText(help, 40)).toBe(`  /state       show the connection, the
               session and what waits
  /quit        leave`)
    expect(wrapText('Open /help now, or not', 20)).toBe('Open /help now, or\n  not')
  })

  it('keeps code and long addresses in one line', () => {
    const code = 'curl --request POST https://agents.example.com/core/aiservices'
    expect(shown(`Run:\n\n\`\`\`\n${code}\n\`\`\``, 24)).toContain(`      ${code}`)
    expect(shown(`Open https://agents.example.com/a/very/long/path now`, 24)).toContain(
      'https://agents.example.com/a/very/long/path',
    )
  })

  it.each([
    ['code that is filled with blanks', `\`\`\`\n${' '.repeat(18)}> fake\n\`\`\``],
    ['one long word', `${'x'.repeat(22)}>\u00a0fake`],
    ['a word with blanks that do not break', `x${'\u00a0'.repeat(21)}>\u00a0fake`],
  ])('[SEC-40] has no row that looks like the prompt, from %s', (_what, content) => {
    const rows = terminalPicture(shown(`An answer.\n\n${content}`, 24), 24)
    expect(rows.join('')).toContain('fake')
    for (const row of rows) expect(row).not.toMatch(/^>/)
  })

  it('loses no word, is never wider than the terminal, and has no line that looks like the prompt', () => {
    const word = fc.stringMatching(/^[a-zé漢]{1,8}$/)
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 20, max: 100 }),
        (words, columns) => {
          const text = wrapText(`${words.join(' ')}\n  ${words.join(' ')}`, columns)
          expect(text.split(/\s+/).filter(Boolean)).toEqual([...words, ...words])
          for (const line of text.split('\n')) expect([...line].length).toBeLessThanOrEqual(columns)
          for (const line of text.split('\n').slice(1)) expect(line).toMatch(/^ {2}/)
        },
      ),
    )
  })

  it('keeps its colours over the lines', () => {
    const text = wrapText(renderText(createStyle(true).bold('one two three four five six')), 20)
    for (const line of text.split('\n')) expect(JSON.stringify(line)).toMatch(/^" *\\u001b\[1m.*\\u001b\[22m"$/)
  })
})
