import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveEmulator } from '@aiagent/emulator/node'
import { paths } from '@aiagent/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { type DoctorFinding, runDoctor } from '../src/doctor.ts'
import { AiAgent, ApiHelper } from '../src/index.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** A server on a free port that answers with a redirect, or with a text; its origin. */
async function listen(answer: (url: string) => { location?: string; text?: string }): Promise<string> {
  const server = createServer((request, response) => {
    const { location, text } = answer(request.url ?? '')
    if (location !== undefined) response.writeHead(302, { location })
    response.end(text)
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** An origin at which nothing listens. */
async function deadOrigin(): Promise<string> {
  const origin = await listen(() => ({}))
  await new Promise(resolve => servers.pop()?.close(resolve))
  return origin
}

/** The message with which each of the three ways to an endpoint fails. */
async function failuresOf(endpoint: string): Promise<string[]> {
  const agent = new AiAgent({ id: 'help', endpoint, enableLogging: false, cache: { enabled: false } })
  const initializing = agent.initialize().then(String, (error: Error) => error.message)
  const loading = ApiHelper.getDeploymentInfo(endpoint, { enabled: false }).then(
    String,
    (error: Error) => error.message,
  )
  const examining = runDoctor({ endpoint }).then(report => deployment(report)?.text ?? '')
  const failures = await Promise.all([initializing, loading, examining])
  await agent.destroy()
  return failures
}

const deployment = ({ findings }: { findings: readonly DoctorFinding[] }) =>
  findings.find(({ check }) => check === 'deployment')

describe('an endpoint that redirects', () => {
  it('[REL-192] names both origins and the reason when nothing answers at the other one', async () => {
    const dead = await deadOrigin()
    const endpoint = await listen(url => ({ location: `${dead}${url}` }))
    for (const failure of await failuresOf(endpoint)) {
      expect(failure).toContain(`${endpoint} could not be reached: it redirects to ${dead}, which could not be reached`)
      expect(failure).toContain(`nothing listens on ${new URL(dead).host}`)
    }
  })

  it('[REL-192] names the last of several origins', async () => {
    const dead = await deadOrigin()
    const middle = await listen(() => ({ location: dead }))
    const endpoint = await listen(() => ({ location: middle }))
    for (const failure of await failuresOf(endpoint))
      expect(failure).toContain(`${endpoint} could not be reached: it redirects to ${dead},`)
  })

  it('[REL-192] names redirects without an end', async () => {
    const endpoint = await listen(url => ({ location: url }))
    const other: string = await listen(url => ({ location: `${other}${url}` }))
    const start = await listen(url => ({ location: `${other}${url}` }))
    for (const failure of await failuresOf(start)) {
      expect(failure).toContain(`${start} could not be reached: it redirects to ${other}, which`)
      expect(failure).toContain('redirect count exceeded')
    }
    for (const failure of await failuresOf(endpoint))
      expect(failure).toContain(`${endpoint} could not be reached: the request failed (redirect count exceeded)`)
  })

  it('[REL-192] names both origins when a website answers at the other one', async () => {
    const website = await listen(() => ({ text: '<!doctype html>' }))
    const endpoint = await listen(() => ({ location: website }))
    for (const failure of await failuresOf(endpoint)) expect(failure).toContain(`${endpoint} redirects to ${website}`)
  })

  it('[REL-192] works when the deployment answers at the other one', async () => {
    await using server = await serveEmulator()
    const endpoint = await listen(url => ({ location: `${server.url}${url}` }))
    await expect(ApiHelper.getDeploymentInfo(endpoint, { enabled: false })).resolves.toMatchObject({
      tenant_identifier: 'acme',
    })
  })
})

describe('a port to which the platform sends no request', () => {
  it('[REL-24] is a reason', async () => {
    for (const failure of await failuresOf('http://127.0.0.1:1')) expect(failure).toContain('bad port')
  })
})

describe('a rate limit of the deployment', () => {
  it.each([3_000, 300])('[REL-193] is named by the doctor with a time limit of %i ms', async timeoutMs => {
    await using server = await serveEmulator()
    server.emulator.faults.add({ kind: 'rate-limit', route: paths.deploymentInfo(), retryAfterSeconds: 2 })
    const found = deployment(await runDoctor({ endpoint: server.url, timeoutMs }))
    expect(found).toMatchObject({ status: 'failed', code: 'DEPLOYMENT_STATUS' })
    expect(found?.text).toMatch(/429.*rate limit/)
  })

  it('[REL-193] is not confused with a service that does not answer after it', async () => {
    await using server = await serveEmulator()
    const { faults } = server.emulator
    faults.add({ kind: 'rate-limit', route: paths.deploymentInfo(), retryAfterSeconds: 0, times: 1 })
    faults.add({ kind: 'hang-request', route: paths.deploymentInfo(), after: 1 })
    const found = deployment(await runDoctor({ endpoint: server.url, timeoutMs: 300 }))
    expect(found?.code).toBe('DEPLOYMENT_TIMEOUT')
  })
})
