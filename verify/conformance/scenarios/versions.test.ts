import { readdir, readFile } from 'node:fs/promises'
import { type AiAgentConfig, VERSION } from '@aiagent/client'
import { expect } from 'vitest'
import { verifies, verifiesAlone } from '../verifies.ts'

const ROOT = new URL('../../../', import.meta.url)

interface Manifest {
  name: string
  version: string
  workspaces?: string[]
  dependencies?: Record<string, string>
}

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(new URL(`${folder}/package.json`, ROOT), 'utf8'))
}

/** Manifests of the root and of every workspace. */
async function manifests(): Promise<Manifest[]> {
  const root = await manifestOf('.')
  const folders = await Promise.all(
    (root.workspaces ?? []).map(async pattern => {
      if (!pattern.endsWith('/*')) return [pattern]
      const parent = pattern.slice(0, -'/*'.length)
      const entries = await readdir(new URL(parent, ROOT), { withFileTypes: true })
      return entries.filter(entry => entry.isDirectory()).map(({ name }) => `${parent}/${name}`)
    }),
  )
  return [root, ...(await Promise.all(folders.flat().map(manifestOf)))]
}

verifiesAlone(
  'VER-01',
  'all packages carry the version of VERSION, and depend on that version of each other',
  async () => {
    expect(VERSION).toBe('0.3.2')
    const all = await manifests()
    expect(all.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['@aiagent/protocol', '@aiagent/client', '@aiagent/emulator', '@aiagent/cli']),
    )
    for (const { name, version, dependencies = {} } of all) {
      expect(version, name).toBe(VERSION)
      for (const [dependency, range] of Object.entries(dependencies))
        if (dependency.startsWith('@aiagent/')) expect(range, `${name} → ${dependency}`).toBe(VERSION)
    }
  },
)

verifies(
  'VER-01',
  'options removed in 0.3.x are a type error and a warning, and deprecated ones still work with a warning',
  async service => {
    // @ts-expect-error removed in 0.3.0
    const removed: AiAgentConfig = { id: 'help', endpoint: service.endpoint, scopes: ['core.aiservices.read'] }
    service.newAgent(removed)
    expect(service.printed.join('\n')).toMatch(/`scopes` was removed in 0\.3\.0/)

    service.printed.length = 0
    const deprecated = service.newAgent({ auth: { type: 'token', token: service.control.issueToken() } })
    await deprecated.initialize()
    expect(deprecated.getIsInitialized()).toBe(true)
    expect(service.printed.filter(line => /'token' is deprecated/.test(line))).toHaveLength(1)
  },
)
