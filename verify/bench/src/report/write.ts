import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import type { Figure } from '../figure.ts'
import { replaceBlock, repositoryFile } from './document.ts'
import { picture } from './picture.ts'
import { markdownTable } from './table.ts'

/** Where and with what was measured. */
interface Machine {
  processor: string
  cores: number
  memoryGb: number
  /** Processes that wanted to run, over the last quarter of an hour: above the number of cores the machine was busy. */
  load: number
  platform: string
  node: string
  versions: Record<string, string>
}

/** Keeps the figures: as data, as a picture, and as the table in the document about them. */
export function writeResults(figures: readonly Figure[]): void {
  const rounded = figures.map(figure => ({
    ...figure,
    value: round(figure.value),
    ...(figure.spread && { spread: figure.spread.map(round) }),
  }))
  writeFileSync(
    repositoryFile('verify/bench/results.json'),
    `${JSON.stringify({ machine: machine(), figures: rounded }, null, 2)}\n`,
  )
  writeFileSync(repositoryFile('docs/performance.svg'), picture(figures))
  replaceBlock('docs/performance.md', 'figures', markdownTable(figures))
}

/** The machine in one line, for people. */
export function machineLine(): string {
  const { processor, cores, memoryGb, platform, node } = machine()
  return `${processor}, ${cores} cores, ${memoryGb} GB, ${platform}, Node ${node}`
}

function machine(): Machine {
  const packages = { client: 'packages/client', ws: 'node_modules/ws', esbuild: 'node_modules/esbuild' }
  const versions = Object.entries(packages).map(([name, folder]) => {
    const { version } = JSON.parse(readFileSync(repositoryFile(`${folder}/package.json`), 'utf8')) as {
      version: string
    }
    return [name, version] as const
  })
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    load: round(loadavg()[2] ?? 0),
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    versions: Object.fromEntries(versions),
  }
}

const round = (value: number) => Number(value.toPrecision(4))
