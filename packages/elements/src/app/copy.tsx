/** @jsxImportSource preact */
import { visibleText } from '@aiagent/protocol'
import { useEffect, useRef, useState } from 'preact/hooks'
import { loadedMarkdown } from '../markdown/load-markdown.ts'
import type { CopyProps } from '../markdown/nodes.tsx'
import { pieces } from '../markdown/pieces.tsx'
import { shownMarkdown } from '../markdown/shown-markdown.ts'

export { COPY_STYLE as STYLE } from '../style/copy-style.ts'

/** How long the result stays beside the button, in milliseconds. */
const RESULT_MS = 4000

/** A button that copies what is shown of an answer or, in a bar with its language, of a block of code. Loads with the attribute `show-copy`. */
export function Copy({ settings: { strings, announcer }, text, language }: CopyProps) {
  const [result, setResult] = useState<'copied' | 'copyFailed'>()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async () => {
    const shown = typeof text === 'string' ? text : text().map(shownText).filter(Boolean).join('\n\n')
    const reached = await write(visibleText(shown))
    announcer.say(strings[reached])
    setResult(reached)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setResult(undefined), RESULT_MS)
  }
  const label = language === undefined ? strings.copyAnswer : strings.copyCode
  return (
    <span
      class={`copy ${language === undefined ? '' : 'code-bar'}`}
      part={language === undefined ? undefined : 'code-bar'}
    >
      {language !== undefined && <bdi class="code-language">{pieces(language)}</bdi>}
      {result && <span class={result === 'copied' ? '' : 'trouble'}>{strings[result]}</span>}
      <button type="button" class="icon-button small" part="copy" aria-label={label} title={label} onClick={copy}>
        <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
          <path d={result === 'copied' ? 'M5 12.5l4.5 4.5L19 7.5' : 'M9 9h11v11H9V9Z M5 15H4V4h11v1'} />
        </svg>
      </button>
    </span>
  )
}

/** An answer as it is shown, in Markdown. */
function shownText(answer: string): string {
  const tokens = loadedMarkdown()?.lex(answer)
  return tokens ? shownMarkdown(tokens) : answer
}

/** Writes a text into the clipboard, which pages without HTTPS do not have, and frames only where their page allows it. */
async function write(text: string): Promise<'copied' | 'copyFailed'> {
  try {
    await navigator.clipboard.writeText(text)
    return 'copied'
  } catch {
    return 'copyFailed'
  }
}
