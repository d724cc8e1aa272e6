import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createFakeIo } from '../../test/fake-io.ts'
import { endChats, serve } from '../../test/served-chat.ts'
import type { ConformReport } from '../conform/run-scenarios.ts'
import { run } from '../run.ts'

endChats()

async function ask(args: readonly string[]) {
  const fake = createFakeIo({ input: '' })
  const code = await run(['conform', ...args], fake.io)
  return { code, out: fake.out(), err: fake.err() }
}

describe('aiagent conform', () => {
  it('[ADOPT-05] finds every asked rule kept by the emulator, in JSON and JUnit', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'conform-'))
    try {
      const server = await serve({ settings: { capabilities: ['receipts', 'resume'] } })
      const junit = join(folder, 'report.xml')
      const { code, out } = await ask(['--endpoint', server.url, '--json', '--junit', junit])
      const report = JSON.parse(out) as ConformReport
      expect(report.scenarios.filter(({ outcome }) => outcome === 'failed')).toEqual([])
      // The help desk needs no login.
      expect(Object.entries(report.rules).filter(([, outcome]) => outcome !== 'passed')).toEqual([
        ['OWN-06', 'skipped'],
      ])
      expect(report.needEmulator).toMatchObject({ 'FLOW-03': 'faults', 'REST-03': 'contact-center' })
      expect(code).toBe(0)
      const xml = await readFile(junit, 'utf8')
      expect(xml).toContain('<testsuite name="REST-11" tests="1" failures="0"')
      expect(xml.match(/<testcase /g)?.length).toBe(report.scenarios.flatMap(({ rules }) => rules).length)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('[ADOPT-05] prints a matrix that names what a deployment violates, and what it cannot be asked', async () => {
    const server = await serve()
    server.emulator.faults.add({ kind: 'answer', route: 'POST */session', status: 403 })
    // The command asks once whether a deployment answers; the scenario asks again.
    server.emulator.faults.add({ kind: 'answer', route: '/system/deploymentInfo', status: 500, times: 2 })
    server.emulator.faults.add({ kind: 'answer', route: '*/conversations/*', status: 200, body: [] })
    const { code, out } = await ask(['--endpoint', server.url])
    expect(code).toBe(1)
    expect(out).toMatch(/^ {2}REST-11 {2}FAILED$/m)
    expect(out).toMatch(/^ {2}REST-12 {2}FAILED$/m)
    expect(out).toMatch(/^ {2}REST-02 {2}FAILED$/m)
    expect(out).toMatch(/^ {2}OWN-21 {3}ok$/m)
    expect(out).toMatch(/\d+ rules: needs failures, closes or time on request/)
    expect(out).toMatch(/^Rules that hold: \d+, violated: 3, not applicable: 2\.$/m)
  })

  it('[ADOPT-05] judges no rule where no deployment answers', async () => {
    const server = await serve()
    await server.close()
    const { code, out, err } = await ask(['--endpoint', server.url])
    expect(code).toBe(1)
    expect(out).toBe('')
    expect(err).toMatch(/^aiagent: No service answers at \S+ \(ECONNREFUSED\)\..*\n$/)
  })
})
