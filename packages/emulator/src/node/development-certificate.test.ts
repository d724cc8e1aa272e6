import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadDevelopmentCertificate } from './development-certificate.ts'

const DAY_MS = 24 * 60 * 60_000
const NOW = Date.UTC(2026, 5, 1)
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'certificate-'))
})
afterEach(() => rm(folder, { recursive: true }))

const load = (now = NOW, host = '127.0.0.1') => loadDevelopmentCertificate(host, folder, now)

describe('the development certificate', () => {
  it('covers this machine and the host, for a year', async () => {
    const certificate = new X509Certificate((await load(NOW, 'desk.test')).cert)
    expect(certificate.checkIP('127.0.0.1')).toBeDefined()
    expect(certificate.checkIP('::1')).toBeDefined()
    expect(certificate.checkHost('localhost')).toBeDefined()
    expect(certificate.checkHost('desk.test')).toBeDefined()
    expect(Date.parse(certificate.validTo)).toBe(NOW + 365 * DAY_MS)
  })

  it('is stored, readable by its user only', async () => {
    const first = await load()
    expect(await load()).toEqual(first)
    expect(await readFile(first.file, 'utf8')).toBe(first.cert)
    expect((await stat(join(folder, 'development.pem'))).mode & 0o077).toBe(0)
  })

  it('is replaced near its expiry, for a host that it does not cover, and when the file is broken', async () => {
    const first = await load()
    expect((await load(NOW + 334 * DAY_MS)).cert).toBe(first.cert)
    const second = await load(NOW + 336 * DAY_MS)
    expect(second.cert).not.toBe(first.cert)
    const third = await load(NOW + 336 * DAY_MS, 'desk.test')
    expect(third.cert).not.toBe(second.cert)
    await writeFile(join(folder, 'development.pem'), 'broken')
    expect((await load(NOW + 336 * DAY_MS)).cert).not.toBe(third.cert)
  })
})
