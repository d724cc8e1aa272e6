import type { TestModule, Vitest } from 'vitest/node'

/**
 * Whether a run included every test of every project: no file, folder, `-t`, `--project`, `--exclude`, `--changed` or `--shard`
 * narrowed it.
 *
 * Files are compared with those that the configuration finds without filters, so that a new way to choose files does
 * not need a change here.
 */
export async function isWholeRun(vitest: Vitest, modules: readonly TestModule[]): Promise<boolean> {
  const { project, testNamePattern, tagsFilter, cliExclude, dir, root } = vitest.config
  const narrowsTests = [project, tagsFilter, cliExclude].some(list => list?.length) || testNamePattern !== undefined
  if (narrowsTests || (dir !== undefined && dir !== root)) return false
  const ran = new Set(modules.map(module => keyOf(module.project.name, module.moduleId)))
  const all = await vitest.globTestSpecifications()
  return all.every(({ project, moduleId }) => ran.has(keyOf(project.name, moduleId)))
}

function keyOf(project: string, moduleId: string): string {
  return `${project}:${moduleId}`
}
