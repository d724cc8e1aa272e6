import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CommandFailure } from '../failure.ts'

/** Platforms with a connector in the emulator. */
const EMULATED_PLATFORMS = ['standalone', 'test']

export interface ConnectorChoice {
  /** `initParams.platform`. */
  platform: string | undefined
  /** Path of the script. */
  file: string | undefined
  /** Whether this program started an emulator. */
  isEmulated: boolean
}

/** A loadable script of a connector. */
export interface ConnectorFile {
  /** A `file:` URL: Node imports no other kind. */
  readonly url: string
  /** Removes the temporary file. */
  remove(): Promise<void>
}

/**
 * Finds the script of a platform's connector; `undefined` without a platform.
 *
 * @throws {CommandFailure} when the script is at a web address, so that its file must be passed
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
      `The connector of the platform "${name}" is at a web address, and Node loads connectors from files only. Save its script and pass the file with --connector.`,
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
