import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const PROGRAM = fileURLToPath(new URL('heap-program.ts', import.meta.url))

it('[SEC-15] the memory of a process holds no text after the sign-out of its user, and without a transcript only what may be written', async () => {
  const args = ['--conditions=@aiagent/source', '--import', 'tsx', PROGRAM]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const counts = JSON.parse(stdout) as { going: number; left: number; unwritten: number }
  expect(counts.going).toBeGreaterThan(10)
  expect(counts.left).toBe(0)
  // Without a transcript: of 1,001 messages only the one that may be sent again.
  expect(counts.unwritten).toBe(1)
})
