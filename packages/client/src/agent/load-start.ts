import { loadModule } from '../platform/load-module.ts'
import type { EarlyParts, LateParts } from './agent-parts.ts'

type BuildAgent = (early: EarlyParts) => LateParts

let buildAgent: BuildAgent | undefined

/** Constructs the late parts of an agent; undefined until their code is loaded. */
export function loadedStart(): BuildAgent | undefined {
  return buildAgent
}

/** @throws {SDKError} code `MODULE_LOAD_FAILED`; a later call may load it */
export async function loadStart(): Promise<BuildAgent> {
  buildAgent = (await loadModule('build-agent', import('./build-agent.ts'))).buildAgent
  return buildAgent
}
