import { X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { CERTIFICATES, requireInstalled } from './optional-package.ts'

/** A certificate for this machine's own use, with its key. */
export interface DevelopmentCertificate {
  /** PEM. */
  cert: string
  /** PEM. */
  key: string
  /** File with the certificate alone, for clients to trust: set `NODE_EXTRA_CA_CERTS` to it. */
  file: string
}

const DAY_MS = 24 * 60 * 60_000
const LIFE_DAYS = 365
const RENEW_DAYS = 30
const ALWAYS_COVERED = ['localhost', 'chat.localhost', '127.0.0.1', '::1']

/**
 * Loads the stored certificate. Creates a new one if there is none, it expires within 30 days, or it does not cover
 * every host. A new one also covers the hosts of the previous one.
 *
 * @param hosts names or addresses to cover in addition to those of this machine
 * @param folder where it is stored; a folder of the user's cache by default
 * @param now the current time, in milliseconds since the epoch
 * @throws {MissingPackageError} when a new one is needed, and the packages that make it are not installed
 */
export async function loadDevelopmentCertificate(
  hosts: string | readonly string[],
  folder: string = cacheFolder(),
  now: number = Date.now(),
): Promise<DevelopmentCertificate> {
  const pairFile = join(folder, 'development.pem')
  const file = join(folder, 'development-certificate.pem')
  const kept = await readFile(pairFile, 'utf8').then(splitPair, () => undefined)
  const names = typeof hosts === 'string' ? [hosts] : hosts
  if (kept && isGood(kept.cert, names, now)) return { ...kept, file }

  const made = await makeCertificate([...coveredNames(kept?.cert), ...names], now)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // Key and certificate in one file and one write: two processes that start together never mix theirs.
  await replaceFile(pairFile, made.key + made.cert, 0o600)
  await replaceFile(file, made.cert, 0o644)
  return { ...made, file }
}

async function makeCertificate(hosts: readonly string[], now: number): Promise<{ cert: string; key: string }> {
  // Loaded here, because only this function needs the library and its start is slow. It requires the metadata functions
  // of Reflect when it is loaded, so they come first.
  requireInstalled(CERTIFICATES)
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const names = [...new Set([...ALWAYS_COVERED, ...hosts])]
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=AI agent emulator (development)',
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + LIFE_DAYS * DAY_MS),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map(value => (isIP(value) ? { type: 'ip' as const, value } : { type: 'dns' as const, value })),
      ),
    ],
  })
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  return { cert: `${certificate.toString('pem')}\n`, key: `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n` }
}

function splitPair(text: string): { cert: string; key: string } | undefined {
  const block = (label: string) =>
    new RegExp(`-----BEGIN ${label}-----[\\s\\S]+?-----END ${label}-----`).exec(text)?.[0]
  const cert = block('CERTIFICATE')
  const key = block('PRIVATE KEY')
  return cert && key ? { cert: `${cert}\n`, key: `${key}\n` } : undefined
}

/** The names and addresses of a certificate; empty for an unreadable one. */
function coveredNames(pem: string | undefined): string[] {
  try {
    const names = new X509Certificate(pem ?? '').subjectAltName?.split(', ') ?? []
    return names.flatMap(name => /^(?:DNS|IP Address):(.+)$/.exec(name)?.[1] ?? [])
  } catch {
    return []
  }
}

function isGood(pem: string, hosts: readonly string[], now: number): boolean {
  try {
    const certificate = new X509Certificate(pem)
    const covers = (host: string) =>
      (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined
    return [...ALWAYS_COVERED, ...hosts].every(covers) && Date.parse(certificate.validTo) - now > RENEW_DAYS * DAY_MS
  } catch {
    return false
  }
}

async function replaceFile(path: string, content: string, mode: number): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`
  await writeFile(draft, content, { mode })
  await rename(draft, path)
}

function cacheFolder(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env
  return join(XDG_CACHE_HOME || LOCALAPPDATA || join(homedir(), '.cache'), 'aiagent-emulator')
}
