import { createRequire } from 'node:module'

/** A part of the emulator that needs packages which are not installed with it. */
export interface OptionalPart {
  /** Name of the part, as the subject of a sentence. */
  readonly name: string
  /** The packages by name, with the versions that are tested. */
  readonly packages: Readonly<Record<string, string>>
}

/** The logins of an emulator on a port: about 35 packages, which anonymous conversations do not use. */
export const LOGINS: OptionalPart = { name: 'Logins', packages: { 'oidc-provider': '9' } }

/** Making a development certificate: about 20 packages. */
export const CERTIFICATES: OptionalPart = {
  name: 'Development certificates',
  packages: { '@peculiar/x509': '2', 'reflect-metadata': '0.2' },
}

/** A part of the emulator needs a package that is not installed. The message says how to install it. */
export class MissingPackageError extends Error {
  /** Name of the class, for logs. */
  override readonly name = 'MissingPackageError'
  /** Stable code. */
  readonly code = 'package_missing'
  /** The packages to install, each with its version: `oidc-provider@9`. */
  readonly packages: readonly string[]

  constructor({ name, packages }: OptionalPart) {
    const wanted = Object.entries(packages).map(([each, version]) => `${each}@${version}`)
    const what = wanted.length === 1 ? 'a package that is' : 'packages that are'
    super(`${name} of the emulator need ${what} not installed. Install with: npm install ${wanted.join(' ')}`)
    this.packages = wanted
  }
}

const { resolve } = createRequire(import.meta.url)

/** Whether the packages of a part are installed. Loads none of them. */
export function isInstalled({ packages }: OptionalPart): boolean {
  try {
    for (const name of Object.keys(packages)) resolve(name)
    return true
  } catch {
    return false
  }
}

/** @throws {MissingPackageError} when a package of the part is not installed */
export function requireInstalled(part: OptionalPart): void {
  if (!isInstalled(part)) throw new MissingPackageError(part)
}
