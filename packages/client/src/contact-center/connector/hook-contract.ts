import type { AgentDetails, DeploymentInfo, Id, Portal } from '@aiagent/protocol'
import type { EnvironmentName } from '../../init-params.ts'
import { EventEmitter } from '../../util/event-emitter.ts'
import type { CallerInfo, CallTranscriptEntry, CallTranscriptInput, FilterTags, UserContext } from './call-details.ts'
import type { CallState } from './call-state.ts'

/** A passage that somebody clicked in an answer. */
export interface SourceClick {
  id: string
  title: string
  /** Where the passage stands, where it has an address. */
  url?: string
  [field: string]: unknown
}

/** An intent that somebody confirmed. */
export interface IntentConfirm {
  id: string
  intent: string
  /** How sure the platform is, from 0 to 1. */
  confidence: number
  [field: string]: unknown
}

/**
 * Hears of what happens in the agent's widget: `message` with the payload of that event, `sourceClick` and
 * `intentConfirm` with what was clicked or confirmed.
 */
export type WidgetActionListener = (action: 'message' | 'sourceClick' | 'intentConfirm', data: unknown) => unknown

/**
 * What a connector's script sees of the agent. Getters tell how things stand at the moment; what they return is the
 * script's own copy. A script may attach functions of its own.
 */
export interface HookContract {
  /** What was said in the call at the desk; not what was said in the chat. */
  getTranscript(): CallTranscriptEntry[]
  /** All parameters of the host. */
  getInitParams(): Record<string, string>
  /** The same as {@link getInitParams}, by its older name. */
  getQueryParams(): Record<string, string>
  /** What the service says of the agent; null before it was asked. */
  getAgentDetails(): AgentDetails | null
  /** Where the deployment's services are; null before it was asked. */
  getDeploymentInfo(): DeploymentInfo | null
  /** A token that is valid now, renewed where needed. Rejects where none can be had. */
  getAccessToken(): Promise<string>
  /** The token at hand, or null; renews nothing. */
  getMsalAccessToken(): string | null
  /** `initParams.platform` as the host gave it, or null. */
  getPlatformType(): string | null
  /** The connector's environment. */
  getEnvironment(): EnvironmentName
  /** Id of the signed-in user or customer, or null. */
  getUserId(): string | null
  /** Facts about the call, or null. */
  getUserContext(): UserContext | null
  /** The call's id, or null. */
  getConversationId(): string | null
  /** The scopes that tokens are asked for. */
  getAuthScopes(): string[]
  /** The deployment's tenant, or null. */
  getTenantId(): string | null
  /** The portal, from its choice on. */
  getSelectedPortal(): Portal | null
  /** Who calls, or null. */
  getCallerInfo(): CallerInfo | null
  /** Adds what was said in the call. */
  addToTranscript(entry: CallTranscriptInput): void
  /** Says who calls; null forgets it. */
  setCallerInfo(info: CallerInfo | null): void
  /** Names the call; a chat that connects from now on carries the id as `externalCallId`. */
  setConversationId(id: Id | null): void
  /** Merged over what is known, by name. */
  setUserContext(context: UserContext): void
  /** Merged over the tags that are known, by name, here and in the conversation's context. */
  setUserFilterTags(tags: FilterTags): void
  /** Says whether the script has signed in at its platform. Nothing here depends on it. */
  setPlatformAuthenticated(authenticated: boolean): void
  /** Keeps the platform's own token. Nothing here depends on it. */
  setPlatformToken(token: string | null): void
  /** @returns the undo */
  subscribeToAgentWidgetActions(listener: WidgetActionListener): () => void
  /** Sends what the user said. A failure is an `error` event of the agent. */
  onUserMessage(text: string): void
  /** Tells the subscribers that the user clicked a source. */
  onSourceClick(source: SourceClick): void
  /** Tells the subscribers that the user confirmed an intent. */
  onIntentConfirm(intent: IntentConfirm): void
}

/** What the contract is made of: the agent's facts as they stand, and what it can be told. */
export interface HookContractSources {
  readonly calls: CallState
  readonly environment: EnvironmentName
  getInitParams(): Readonly<Record<string, string>>
  getAgentDetails(): AgentDetails | null | undefined
  getDeploymentInfo(): DeploymentInfo | null | undefined
  getToken(): Promise<string>
  getCachedToken(): string | null
  /** Whoever is signed in, as a user or as a customer. */
  getUserDetails(): { readonly id?: Id | null | undefined } | null | undefined
  getAuthScopes(): readonly string[]
  getSelectedPortal(): Portal | null | undefined
  /** Subscribes to the agent's `message` events, by their payload; returns the undo. */
  onMessage(listener: (payload: unknown) => void): () => void
  send(text: string): Promise<unknown>
  /** A message of the script's did not go out. */
  sendFailed(error: unknown): void
  /** A function of the script's failed that nobody waits for. */
  listenerFailed(error: unknown): void
}

/** One agent's contract. */
export function buildHookContract(sources: HookContractSources): HookContract {
  const { calls } = sources
  const actions = new EventEmitter<{ action: Parameters<WidgetActionListener> }>(error => sources.listenerFailed(error))
  const getInitParams = () => ({ ...sources.getInitParams() })
  let unsubscribe: (() => void) | undefined

  return {
    getTranscript: () => calls.getTranscript().map(entry => ({ ...entry, timestamp: new Date(entry.timestamp) })),
    getInitParams,
    getQueryParams: getInitParams,
    getAgentDetails: () => sources.getAgentDetails() ?? null,
    getDeploymentInfo: () => sources.getDeploymentInfo() ?? null,
    getAccessToken: async () => sources.getToken(),
    getMsalAccessToken: () => sources.getCachedToken(),
    getPlatformType: () => sources.getInitParams()['platform'] ?? null,
    getEnvironment: () => sources.environment,
    getUserId: () => toText(sources.getUserDetails()?.id),
    getUserContext: () => copyOrNull(calls.getUserContext()),
    getConversationId: () => calls.getConversationId(),
    getAuthScopes: () => [...sources.getAuthScopes()],
    getTenantId: () => toText(sources.getDeploymentInfo()?.tenantId),
    getSelectedPortal: () => sources.getSelectedPortal() ?? null,
    getCallerInfo: () => copyOrNull(calls.getCallerInfo()),
    addToTranscript: entry => calls.addToTranscript(entry),
    setCallerInfo: info => calls.setCallerInfo(info),
    setConversationId: id => calls.setConversationId(id),
    setUserContext: context => calls.setUserContext(context),
    setUserFilterTags: tags => calls.setUserFilterTags(tags),
    setPlatformAuthenticated: authenticated => calls.setPlatformAuthenticated(authenticated),
    setPlatformToken: token => calls.setPlatformToken(token),

    subscribeToAgentWidgetActions(listener) {
      // A function of our own, so that a listener that subscribes twice is called twice and leaves twice.
      const leave = actions.subscribe('action', ([action, data]) => listener(action, data))
      unsubscribe ??= sources.onMessage(payload => actions.emit('action', ['message', payload]))
      return () => {
        leave()
        if (actions.listenerCount('action') > 0) return
        unsubscribe?.()
        unsubscribe = undefined
      }
    },

    onUserMessage(text) {
      // Called in a promise, since what is no text may be refused at once.
      void Promise.resolve(text)
        .then(said => sources.send(said))
        .catch(error => sources.sendFailed(error))
    },
    onSourceClick: source => actions.emit('action', ['sourceClick', source]),
    onIntentConfirm: intent => actions.emit('action', ['intentConfirm', intent]),
  }
}

function toText(id: Id | null | undefined): string | null {
  return id === null || id === undefined || id === '' ? null : String(id)
}

function copyOrNull<T extends object>(value: T | null): T | null {
  return value && { ...value }
}
