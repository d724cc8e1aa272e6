import { describe, expect, it } from 'vitest'
import { createFakeIo } from '../../test/fake-io.ts'
import { endChats, serve } from '../../test/served-chat.ts'
import { run } from '../run.ts'

endChats()

async function examine(args: readonly string[], env: Record<string, string> = {}) {
  const fake = createFakeIo({ input: '', env })
  const code = await run(['doctor', ...args], fake.io)
  return { code, out: fake.out(), err: fake.err() }
}

describe('aiagent doctor', () => {
  it('[ADOPT-04] exits with 0 and one line for each check of a sound deployment', async () => {
    const server = await serve()
    const { code, out } = await examine(['--endpoint', server.url, '--ask', 'Hello'])
    expect(code).toBe(0)
    expect(out).toMatch(/^ok {6}deployment The deployment answers/m)
    expect(out).toMatch(/^ok {6}answer/m)
    expect(out).toContain('The deployment works.')
  })

  it('[ADOPT-04] folds what was not checked for one reason, and names its own options', async () => {
    const server = await serve()
    const { out } = await examine(['--endpoint', server.url])
    const folded = out.split('\n').filter(line => line.startsWith('-'))
    expect(folded).toEqual([
      '-       answer     Not checked without a question (--ask): this service answers no pings.',
      '-       idle       Not checked without seconds for the chat to stay idle (--idle).',
      '-       storage, login, cors, policy Not checked: this is not a page.',
    ])
    server.emulator.faults.add({ kind: 'refuse-upgrade', status: 502 })
    const failed = await examine(['--endpoint', server.url])
    expect(failed.out).toContain('-       answer, idle Not checked: the check "chat" comes first.')
    expect(failed.out.indexOf('FAILED')).toBeLessThan(failed.out.indexOf('Not checked'))
  })

  it('[ADOPT-04] exits with 3 after a warning, with code and remedy below the line', async () => {
    const server = await serve({ settings: { postSession: false } })
    const { code, out } = await examine(['--endpoint', server.url])
    expect(code).toBe(3)
    expect(out).toMatch(/^warning session .*\n {2}SESSION_WITHOUT_CONTEXT: Allow POST/m)
  })

  it('[ADOPT-04] exits with 1 after a failure, and prints JSON on request', async () => {
    const server = await serve()
    server.emulator.faults.add({ kind: 'refuse-upgrade', status: 502 })
    const { code, out } = await examine(['--endpoint', server.url, '--json'])
    expect(code).toBe(1)
    const report: unknown = JSON.parse(out)
    expect(report).toMatchObject({ version: 1, status: 'failed' })
    expect(out).toContain('"CHAT_REFUSED"')
  })

  it('[ADOPT-03] prints neither the token nor the session id', async () => {
    const server = await serve()
    const token = server.emulator.control.issueToken({ subject: 'customer' })
    const { out, err } = await examine(['--endpoint', server.url, '--agent', 'account', '--json', '--ask', 'Hi'], {
      AIAGENT_TOKEN: token,
    })
    const [sessionId = 'none'] = server.emulator.world.sessions.keys()
    for (const secret of [token, ...token.split('.'), sessionId]) expect(out + err).not.toContain(secret)
  })
})
