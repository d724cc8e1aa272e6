import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const PROGRAM = fileURLToPath(new URL('heap-program.ts', import.meta.url))

it('[SEC-15] the memory of a process holds no text of a conversation after the sign-out of its user', async () => {
  const args = ['--conditions=@aiagent/source', '--import', 'tsx', PROGRAM]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const { going, left } = JSON.parse(stdout) as { going: number; left: number }
  expect(going).toBeGreaterThan(10)
  expect(left).toBe(0)
})
