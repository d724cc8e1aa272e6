import { rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'

/** A way to a Redis server that can be cut, so that one worker is partitioned from the store and the others are not. */
export interface RedisProxy {
  /** Path of its socket. */
  readonly path: string
  /** Lets nothing through any more, in either direction. Connections stay open. */
  cut(): void
  /** Leads new connections to another server, as an address does after a failover. */
  redirect(target: string): void
  close(): Promise<void>
}

let count = 0

/** @param target path of the socket of the server */
export async function startRedisProxy(target: string): Promise<RedisProxy> {
  const path = `${target}.${++count}`
  const sockets = new Set<Socket>()
  let isCut = false
  let current = target
  const server = createServer(near => {
    const far = connect(current)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', data => !isCut && to.write(data))
      from.on('close', () => to.destroy())
      from.on('error', () => to.destroy())
    }
  })
  await new Promise<void>(resolve => server.listen(path, resolve))
  return {
    path,
    cut: () => {
      isCut = true
    },
    redirect: next => {
      current = next
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>(resolve => server.close(() => resolve()))
      await rm(path, { force: true })
    },
  }
}
