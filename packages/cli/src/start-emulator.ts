import type { EmulatorServer } from '@aiagent/emulator/node'

/** What a command needs of its emulator. */
interface EmulatorNeeds {
  /** Folder of the articles. @default the included help center */
  readonly knowledge?: string | undefined
  /** Whether the user signs in. @default false */
  readonly login?: boolean
}

/**
 * Starts an emulator on a free port for one command. The module is loaded only if it is needed.
 *
 * @throws {MissingPackageError} when a login is needed and its package is not installed
 */
export async function startEmulator({ knowledge, login }: EmulatorNeeds = {}): Promise<EmulatorServer> {
  const { serveEmulator } = await import('@aiagent/emulator/node')
  return serveEmulator({ ...(knowledge !== undefined && { knowledge }), ...(login && { offersLogin: true }) })
}
