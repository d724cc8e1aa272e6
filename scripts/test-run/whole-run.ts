import type { TestModule, Vitest } from 'vitest/node'

/** The project of the tests of whole pages, which `npm test` leaves out and `npm run pages` runs. */
export const PAGES = 'pages'

/** What a run included: every test, every test but those of pages, every test of pages, or another part. */
export type Extent = 'all' | 'without pages' | 'pages' | 'part'

const EXTENTS: Readonly<Record<string, Extent>> = { '': 'all', [`!${PAGES}`]: 'without pages', [PAGES]: 'pages' }

/**
 * What a run included. It is a part where a file, folder, `-t`, another `--project`, `--exclude`, `--changed` or `--shard`
 * narrowed it.
 *
 * Files are compared with those that the configuration finds without filters, so that a new way to choose files does
 * not need a change here.
 */
export async function extentOf(vitest: Vitest, modules: readonly TestModule[]): Promise<Extent> {
  const { project, testNamePattern, tagsFilter, cliExclude, dir, root } = vitest.config
  const extent = EXTENTS[project.join()] ?? 'part'
  const narrowsTests = [tagsFilter, cliExclude].some(list => list?.length) || testNamePattern !== undefined
  if (narrowsTests || (dir !== undefined && dir !== root)) return 'part'
  const ran = new Set(modules.map(module => keyOf(module.project.name, module.moduleId)))
  const all = await vitest.globTestSpecifications()
  return all.every(({ project, moduleId }) => ran.has(keyOf(project.name, moduleId))) ? extent : 'part'
}

/** Whether a run included every test of `npm test`. */
export async function isWholeRun(vitest: Vitest, modules: readonly TestModule[]): Promise<boolean> {
  return ['all', 'without pages'].includes(await extentOf(vitest, modules))
}

function keyOf(project: string, moduleId: string): string {
  return `${project}:${moduleId}`
}
