import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { installedSizes } from '../../../scripts/installed-size.ts'
import { loadedSizes } from '../../../scripts/loaded-sizes.ts'
import { ROOT } from '../../../scripts/tools.ts'
import { atMost, type Finding } from '../figure.ts'

/** What `import { AiAgent }` loads in a page: at once, and on demand; minified and compressed. */
export async function size(): Promise<Finding[]> {
  const { atOnce, onDemand } = await loadedSizes(
    `import { AiAgent } from '@aiagent/client'\nglobalThis.AiAgent = AiAgent`,
  )
  const chunks = [...onDemand].map(([part, bytes]): Finding => {
    return { name: `Chunk ${part}, min + gzip`, value: bytes / 1000, unit: 'kB', note: 'loaded on demand' }
  })
  return [
    { name: 'Core, min + gzip', value: atOnce / 1000, unit: 'kB', goal: atMost(25), note: 'loaded at once' },
    ...chunks,
    ...installSize(),
  ]
}

/** Bytes on disk after an installation of the client. */
function installSize(): Finding[] {
  if (!['client', 'protocol'].every(name => existsSync(join(ROOT, 'packages', name, 'dist')))) {
    console.warn('The size of an installation was not measured: run `npm run build` first.')
    return []
  }
  const parts = [...installedSizes()]
  const total = parts.reduce((sum, [, bytes]) => sum + bytes, 0)
  const note = parts.map(([name, bytes]) => `${name} ${(bytes / 1e6).toFixed(2)}`).join(', ')
  return [{ name: 'Installed size', value: total / 1e6, unit: 'MB', note }]
}
