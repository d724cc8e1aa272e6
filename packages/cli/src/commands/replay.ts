import { readFile, writeFile } from 'node:fs/promises'
import type { ReplayOptions } from '../command-line.ts'
import { EXIT } from '../exit-codes.ts'
import { CommandFailure } from '../failure.ts'
import type { Io } from '../io.ts'
import type { Violation } from '../replay/invariants.ts'
import { replayTrace } from '../replay/replay-trace.ts'
import { writeEntry } from '../terminal-text.ts'

/**
 * Replays a recording and names what it violates.
 *
 * @returns the exit code: 0 when the replay violates nothing, else 1
 * @throws {CommandFailure} when the file cannot be read or is not a trace
 */
export async function replay({ trace, emitTest }: ReplayOptions, io: Io): Promise<number> {
  const source = await readFile(trace, 'utf8').catch((cause: unknown) => {
    throw new CommandFailure(`Cannot read ${trace}.`, { cause })
  })
  const text = source.replace(/^\uFEFF/, '')
  const result = await replayTrace(text)
  const { entries, dropped, library } = result.recording
  const bounds = dropped > 0 ? `, without its first ${dropped}` : ''
  writeEntry(io.stdout, `Recording: ${entries.length} entries${bounds}, library ${library}.`)
  report(io, 'recording', result.recorded)
  report(io, 'replay', result.replayed)
  if (emitTest !== undefined) {
    await writeFile(emitTest, replayTestSource(text))
    writeEntry(io.stdout, `Test written to ${emitTest}.`)
  }
  return result.replayed.length > 0 ? EXIT.FAILURE : EXIT.SUCCESS
}

function report({ stdout }: Io, of: string, violations: readonly Violation[]): void {
  if (violations.length === 0) writeEntry(stdout, `The ${of} violates nothing.`)
  for (const { detail, invariant, t } of violations) writeEntry(stdout, `The ${of}, ${t} ms: ${invariant}. ${detail}`)
}

/** The source of a vitest file that replays a recording and fails while the client violates something. */
function replayTestSource(trace: string): string {
  return `import { replayTrace } from '@aiagent/cli/replay'
import { expect, it } from 'vitest'

const trace = ${JSON.stringify(JSON.stringify(JSON.parse(trace)))}

it('replays the recording without a violation', async () => {
  expect((await replayTrace(trace)).replayed).toEqual([])
})
`
}
