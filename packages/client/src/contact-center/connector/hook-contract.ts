import type { AgentDetails, DeploymentInfo, Id, Portal } from '@aiagent/protocol'
import type { AuthenticationService } from '../../auth/authentication-service.ts'
import type { EnvironmentName } from '../../init-params.ts'
import type { AgentScope } from '../../scope.ts'
import { EventEmitter } from '../../util/event-emitter.ts'
import type { CallerInfo, CallTranscriptEntry, CallTranscriptInput, FilterTags, UserContext } from './call-details.ts'
import type { CallState } from './call-state.ts'

/** A passage that the user clicked in an answer. */
export interface SourceClick {
  /** Id of the passage, as the platform's widget names it. */
  id: string
  /** Title of the passage, as it was shown. */
  title: string
  /** Address of the passage, if it has one. */
  url?: string
  [field: string]: unknown
}

/** An intent that the user confirmed. */
export interface IntentConfirm {
  /** Id of the intent at the platform. */
  id: string
  /** Name of the intent. */
  intent: string
  /** How sure the platform is, from 0 to 1. */
  confidence: number
  [field: string]: unknown
}

/**
 * Receives actions in the agent's widget: `message` with the payload of that event, `sourceClick` and `intentConfirm`
 * with the clicked or confirmed item.
 */
export type WidgetActionListener = (action: 'message' | 'sourceClick' | 'intentConfirm', data: unknown) => unknown

/**
 * The agent as a connector's script sees it. Getters return the current values, as copies. A script may attach its own
 * functions.
 */
export interface HookContract {
  /** The transcript of the call at the contact center; not that of the chat. */
  getTranscript(): CallTranscriptEntry[]
  /** All init parameters of the host. */
  getInitParams(): Record<string, string>
  /** Older name of {@link getInitParams}. */
  getQueryParams(): Record<string, string>
  /** The agent details; null before they are loaded. */
  getAgentDetails(): AgentDetails | null
  /** The deployment info; null before it is loaded. */
  getDeploymentInfo(): DeploymentInfo | null
  /** A valid token, renewed if necessary. Rejects if none can be obtained. */
  getAccessToken(): Promise<string>
  /** The current token, or null; never renews. */
  getMsalAccessToken(): string | null
  /** `initParams.platform` as the host gave it, or null. */
  getPlatformType(): string | null
  /** The connector's environment. */
  getEnvironment(): EnvironmentName
  /** Id of the signed-in user or customer, or null. */
  getUserId(): string | null
  /** Facts about the call, or null. */
  getUserContext(): UserContext | null
  /** The id of the call, or null. */
  getConversationId(): string | null
  /** The scopes of token requests. */
  getAuthScopes(): string[]
  /** The deployment's tenant, or null. */
  getTenantId(): string | null
  /** The selected portal, or null before the selection. */
  getSelectedPortal(): Portal | null
  /** The caller, or null. */
  getCallerInfo(): CallerInfo | null
  /** Adds an utterance to the call's transcript. */
  addToTranscript(entry: CallTranscriptInput): void
  /** Sets the caller; null removes it. */
  setCallerInfo(info: CallerInfo | null): void
  /** Sets the id of the call; later chat connections carry it as `externalCallId`. */
  setConversationId(id: Id | null): void
  /** Merges facts over the known ones, by name. */
  setUserContext(context: UserContext): void
  /** Merges tags over the known ones, by name, here and in the conversation's context. */
  setUserFilterTags(tags: FilterTags): void
  /** Reports whether the script has signed in at its platform. The library does not use it. */
  setPlatformAuthenticated(authenticated: boolean): void
  /** Stores the platform's own token. The library does not use it. */
  setPlatformToken(token: string | null): void
  /** @returns a function that unsubscribes */
  subscribeToAgentWidgetActions(listener: WidgetActionListener): () => void
  /** Sends a message of the user. A failure is emitted as an `error` event of the agent. */
  onUserMessage(text: string): void
  /** Notifies the subscribers that the user clicked a source. */
  onSourceClick(source: SourceClick): void
  /** Notifies the subscribers that the user confirmed an intent. */
  onIntentConfirm(intent: IntentConfirm): void
}

/** The parts behind the contract. */
export interface HookContractSources {
  readonly scope: Pick<AgentScope<never>, 'config' | 'facts' | 'events' | 'logger'>
  readonly calls: CallState
  readonly environment: EnvironmentName
  readonly authentication: Pick<AuthenticationService, 'getToken' | 'getCachedToken'>
  readonly pipeline: { readonly selectedPortal: Portal | undefined }
  /** Sends a message of the user, and reports a failure. */
  send(text: string): Promise<unknown>
}

/** Builds the contract of one agent. */
export function buildHookContract(sources: HookContractSources): HookContract {
  const { authentication, calls, environment, pipeline, scope } = sources
  const { config, facts, events, logger } = scope
  const actions = new EventEmitter<{ action: Parameters<WidgetActionListener> }>(error =>
    logger.error('A listener of the connector failed.', error),
  )
  const getInitParams = () => ({ ...config.initParams })
  let unsubscribe: (() => void) | undefined

  return {
    getTranscript: () => calls.getTranscript().map(entry => ({ ...entry, timestamp: new Date(entry.timestamp) })),
    getInitParams,
    getQueryParams: getInitParams,
    getAgentDetails: () => facts.agent ?? null,
    getDeploymentInfo: () => facts.deployment?.deployment ?? null,
    getAccessToken: async () => authentication.getToken(),
    getMsalAccessToken: () => authentication.getCachedToken(),
    getPlatformType: () => config.initParams['platform'] ?? null,
    getEnvironment: () => environment,
    getUserId: () => toText(facts.user?.id),
    getUserContext: () => copyOrNull(calls.getUserContext()),
    getConversationId: () => calls.getConversationId(),
    getAuthScopes: () => [...facts.scopes],
    getTenantId: () => toText(facts.deployment?.deployment.tenantId),
    getSelectedPortal: () => pipeline.selectedPortal ?? null,
    getCallerInfo: () => copyOrNull(calls.getCallerInfo()),
    addToTranscript: entry => calls.addToTranscript(entry),
    setCallerInfo: info => calls.setCallerInfo(info),
    setConversationId: id => calls.setConversationId(id),
    setUserContext: context => calls.setUserContext(context),
    setUserFilterTags: tags => calls.setUserFilterTags(tags),
    setPlatformAuthenticated: authenticated => calls.setPlatformAuthenticated(authenticated),
    setPlatformToken: token => calls.setPlatformToken(token),

    subscribeToAgentWidgetActions(listener) {
      // A separate function, so that a listener that subscribes twice is called twice and unsubscribes twice.
      const leave = actions.subscribe('action', ([action, data]) => listener(action, data))
      unsubscribe ??= events.subscribe('message', ({ payload }) => actions.emit('action', ['message', payload]))
      return () => {
        leave()
        if (actions.listenerCount('action') > 0) return
        unsubscribe?.()
        unsubscribe = undefined
      }
    },

    onUserMessage(text) {
      void sources.send(text)
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
