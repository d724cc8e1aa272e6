import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { hasRedis } from '@aiagent/test-support/redis'
import { describe, expect, it, vi } from 'vitest'

const HOST = fileURLToPath(new URL('./redis-host.ts', import.meta.url))

const LIMIT = { timeout: 10_000 }

/** Whether a server answers on the socket. */
const answers = (path: string) =>
  new Promise<boolean>(resolve => {
    const socket = connect(path, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

describe.skipIf(!hasRedis())('a Redis server for tests', () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)(
    '[REL-31] ends with the process that started it, and leaves no folder, also after %s',
    async signal => {
      const host = spawn(process.execPath, ['--conditions=@aiagent/source', '--import', 'tsx', HOST], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [path] = (await once(createInterface({ input: host.stdout }), 'line')) as [string]
      expect(await answers(path)).toBe(true)
      const exited = once(host, 'exit')
      host.kill(signal)
      await exited
      await vi.waitFor(async () => expect(await answers(path)).toBe(false), LIMIT)
      await vi.waitFor(() => expect(existsSync(dirname(path))).toBe(false), LIMIT)
    },
  )
})
