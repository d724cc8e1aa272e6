import { type EmulatorServer, type ServeOptions, serveEmulator } from '@aiagent/emulator/node'
import { FENCE_HEADER } from '@aiagent/fleet'

/** A frame of a worker, at the time the service got it. */
export interface WatchedFrame {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly shard: number
  /** The fencing number of its connection. */
  readonly number: number
  readonly sessionId: string
}

/** An emulator that notes for each frame which lease its connection was opened under. */
export interface WatchedService {
  readonly server: EmulatorServer
  readonly frames: WatchedFrame[]
}

export async function serveWatched(options: ServeOptions): Promise<WatchedService> {
  const server = await serveEmulator(options)
  const frames: WatchedFrame[] = []
  const { emulator } = server
  type Upgrade = Awaited<ReturnType<typeof emulator.upgrade>>
  const watch = (answer: Upgrade, sessionId: string, fence: string): Upgrade => {
    if (!answer.accepted) return answer
    const [shard = -1, number = -1] = fence.split(':').map(Number)
    return {
      accepted: true,
      open: end => {
        const connection = answer.open(end)
        return {
          ...connection,
          receive: data => {
            frames.push({ at: Date.now(), shard, number, sessionId })
            connection.receive(data)
          },
        }
      },
    }
  }
  const { upgrade } = emulator
  const watched: typeof upgrade = (url, headers = {}) => {
    const answer = upgrade(url, headers)
    const sessionId = url.searchParams.get('sessionId') ?? ''
    const fence = headers[FENCE_HEADER] ?? ''
    return 'then' in answer ? answer.then(late => watch(late, sessionId, fence)) : watch(answer, sessionId, fence)
  }
  Object.assign(emulator, { upgrade: watched })
  return { server, frames }
}
