import { type EmulatorServer, type ServeOptions, serveEmulator } from '@aiagent/emulator/node'
import { afterEach } from 'vitest'
import { run } from '../src/run.ts'
import { createFakeIo, type FakeIo, type FakeIoOptions } from './fake-io.ts'

const servers: EmulatorServer[] = []
const running: Chat[] = []

/** A command under way, and its exit code once it has ended. */
export interface Chat {
  readonly fake: FakeIo
  readonly ended: Promise<number>
}

/** A service that repeats what was said, unless it is told otherwise. It ends with the test. */
export async function serve(options: ServeOptions = {}): Promise<EmulatorServer> {
  const server = await serveEmulator({ reply: ({ text }) => ({ content: `You said ${text}.` }), ...options })
  servers.push(server)
  return server
}

/** Runs the command `chat`. It is interrupted at the end of the test. */
export function startChat(io: FakeIoOptions, args: readonly string[]): Chat {
  const fake = createFakeIo(io)
  const chat = { fake, ended: run(['chat', ...args], fake.io) }
  running.push(chat)
  return chat
}

/** For the top of a file: ends what its tests have begun, and leaves nothing open. */
export function endChats(): void {
  afterEach(async () => {
    for (const { fake, ended } of running.splice(0)) {
      fake.interrupt()
      await ended
    }
    for (const server of servers.splice(0)) await server.close()
  })
}
