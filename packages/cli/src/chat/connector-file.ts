import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CommandFailure } from '../failure.ts'

/** Platforms whose connector the emulator has. */
const EMULATED_PLATFORMS = ['standalone', 'test']

export interface ConnectorChoice {
  /** `initParams.platform`, as given. */
  platform: string | undefined
  /** File of the script, as the user named it. */
  file: string | undefined
  /** Whether the service is an emulator that was started for this conversation. */
  isEmulated: boolean
}

/** A connector's script where it can be loaded from. */
export interface ConnectorFile {
  /** A `file:` address: no other kind can be imported outside a browser. */
  readonly url: string
  /** Removes what was made for it. */
  remove(): Promise<void>
}

/**
 * Finds the script of a platform's connector; undefined where there is no platform.
 *
 * @throws {CommandFailure} when the script stands at a web address, so that its file must be named
 */
export async function findConnector({
  platform,
  file,
  isEmulated,
}: ConnectorChoice): Promise<ConnectorFile | undefined> {
  const name = platform?.trim().toLowerCase()
  if (!name) return undefined
  if (file !== undefined) return { url: pathToFileURL(resolve(file)).href, remove: async () => {} }
  if (!isEmulated || !EMULATED_PLATFORMS.includes(name))
    throw new CommandFailure(
      `The connector of the platform "${name}" stands at a web address, and outside a browser a connector can be loaded from a file only. Save its script and name the file with --connector.`,
    )
  const { CONNECTOR_SCRIPT } = await import('@aiagent/emulator')
  const folder = await mkdtemp(join(tmpdir(), 'aiagent-connector-'))
  const path = join(folder, 'connector-ai-agent.mjs')
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await writeFile(path, CONNECTOR_SCRIPT)
  } catch (error) {
    await remove()
    throw error
  }
  return { url: pathToFileURL(path).href, remove }
}
