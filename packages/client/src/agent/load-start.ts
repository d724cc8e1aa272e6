import type { DeploymentCall } from '../api/deployment-info.ts'
import { loadModule } from '../platform/load-module.ts'
import type { EarlyParts, LateParts } from './agent-parts.ts'

/** What an agent needs to connect. */
interface Start {
  buildAgent(early: EarlyParts): LateParts
  readonly deploymentCall: DeploymentCall
}

let start: Start | undefined

/** What constructs the late parts of an agent and makes its first call; undefined until the code is loaded. */
export function loadedStart(): Start | undefined {
  return start
}

let loading: Promise<Start> | undefined

/** @throws {SDKError} code `MODULE_LOAD_FAILED` */
export function loadStart(): Promise<Start> {
  loading ??= load().finally(() => {
    loading = undefined
  })
  return loading
}

async function load(): Promise<Start> {
  start = await loadModule('build-agent', import('./build-agent.ts'))
  return start
}
