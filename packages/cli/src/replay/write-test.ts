/** The source of a vitest file that replays a recording and fails while the client violates something. */
export function replayTestSource(trace: string): string {
  return `import { replayTrace } from '@aiagent/cli/replay'
import { expect, it } from 'vitest'

const trace = ${JSON.stringify(JSON.stringify(JSON.parse(trace)))}

it('replays the recording without a violation', async () => {
  expect((await replayTrace(trace)).replayed).toEqual([])
})
`
}
