// The emulator on a port, in a separate process, for the soak.
import { serveEmulator } from '@aiagent/emulator/node'
import { tell } from '@aiagent/test-support/program'

const server = await serveEmulator({
  reply: ({ text }) => ({ content: `You said: ${text}` }),
  // What tests read is not kept: only the clients are measured.
  settings: { recordingLimit: 100 },
})
process.once('disconnect', () => process.exit(0))
await tell({ endpoint: server.url })
