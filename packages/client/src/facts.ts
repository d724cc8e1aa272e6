import {
  type AgentDetails,
  type AgentListItem,
  agentDisplayName,
  CAPABILITY,
  type Capability,
  type DeploymentInfo,
  PERSONA,
  type Portal,
  type PortalDetails,
  type UserDetails,
  type UserProfile,
} from '@aiagent/protocol'
import { notInitialized } from './errors.ts'
import type { RestClient } from './rest/rest-client.ts'

/** The deployment's addresses, and the client for its calls. */
export interface Deployment {
  readonly deployment: DeploymentInfo
  readonly api: RestClient
}

/** What must be loaded before a chat can be opened. */
export interface LoadedAgent extends Deployment {
  readonly agent: AgentDetails
}

/** Result of a completed portal selection. */
export interface PortalSelection {
  readonly portal: Portal
  /** Null when the service returned none. */
  readonly portalDetails: PortalDetails | null
  /** The selected agent; undefined when the configured agent is used. */
  readonly agent: AgentListItem | undefined
  readonly profile: UserProfile | undefined
  readonly availableProfiles: readonly UserProfile[]
  /** Every portal that `selectPortal()` can switch to. */
  readonly availablePortals: readonly Portal[]
}

/** Payload of the `initialized` event. */
export interface InitializedAgent {
  /** The selected agent, else the details of the configured one. */
  agent?: AgentDetails | AgentListItem
  /** The selected portal. */
  portal?: Portal
  /** Details of the portal, when the service returned any. */
  portalDetails?: PortalDetails
  /** The selected profile. */
  profile?: UserProfile
  /** The profiles of the portal. */
  availableProfiles?: readonly UserProfile[]
  /** Every portal that `selectPortal()` can switch to. */
  availablePortals?: readonly Portal[]
}

/** What the service can prove of the messages on its wire: the policy that follows from the extensions that it announces. */
interface Wire {
  /** Whether the service confirms each message by its id: only then is it asked by a repetition, and otherwise by a history. */
  readonly confirms: boolean
  /** Whether it numbers its frames, and repeats what was missed after a reconnect, in order. */
  readonly replays: boolean
  /** Whether it answers pings. */
  readonly answersPings: boolean
  /** How many messages may be without evidence before new ones wait. */
  readonly window: number
  /** The authors of whose messages it recognizes a repetition. */
  readonly recognized: readonly string[]
}

const PLAIN: Wire = { confirms: false, replays: false, answersPings: false, window: Infinity, recognized: [] }

/** With receipts. */
const CONFIRMED = { confirms: true, answersPings: true, window: 1_000, recognized: [PERSONA.CUSTOMER, PERSONA.SYSTEM] }

/**
 * Facts about the deployment, the agent, the user and the session. The lifecycle and the session write them, every other
 * part only reads them.
 */
export class AgentFacts {
  readonly #configuredId: string
  /** Set by {@link setDeployment}; stays known when the user changes. */
  deployment: Deployment | undefined
  /** The plain one until the deployment is known. Set by {@link setDeployment}. */
  wire = PLAIN
  /** Details of the configured agent. Set by {@link setAgent}. */
  agent: AgentDetails | undefined
  /** Id that the chat runs under: of the selected agent, else of the configured one. */
  agentId: string
  /** Name of that agent; empty until it is known. */
  agentName = ''
  user: UserDetails | null = null
  /** The resolved scopes of access tokens. */
  scopes: readonly string[] = []
  /** The completed portal selection. Set by {@link setSelection}. */
  selection: PortalSelection | undefined
  /** Id of the call at the contact center's platform, which the next connection sends; null when there is none. */
  conversationId: string | null = null
  /** Id of the chat session. */
  sessionId: string | undefined

  /** @param configuredId the id of `AiAgentConfig` */
  constructor(configuredId: string) {
    this.#configuredId = this.agentId = configuredId
  }

  /** The deployment is known: sets it, and returns it. */
  setDeployment(deployment: Deployment): Deployment {
    this.deployment = deployment
    this.wire = {
      ...PLAIN,
      ...(this.hasCapability(CAPABILITY.RESUME) && { replays: true, answersPings: true }),
      ...(this.hasCapability(CAPABILITY.RECEIPTS) && CONFIRMED),
    }
    return deployment
  }

  /** The details of the configured agent are known: sets them, and returns them. */
  setAgent(agent: AgentDetails): AgentDetails {
    this.agent = agent
    this.#nameAgent()
    return agent
  }

  /** The portal selection is complete, or begins again. */
  setSelection(selection: PortalSelection | undefined): void {
    this.selection = selection
    this.#nameAgent()
  }

  /** Kept, since each message has both. */
  #nameAgent(): void {
    const selected = this.selection?.agent
    this.agentId = selected ? String(selected.agentId) : this.#configuredId
    this.agentName = selected ? (selected.name ?? '') : this.agent ? agentDisplayName(this.agent) : ''
  }

  /** Whether the service has announced an extension of the wire. */
  hasCapability(name: Capability): boolean {
    return this.deployment?.deployment.capabilities?.includes(name) === true
  }

  /**
   * The REST calls of the deployment.
   *
   * @throws {SDKError} code NOT_INITIALIZED while the deployment is not known
   */
  get api(): RestClient {
    if (this.deployment) return this.deployment.api
    throw notInitialized('The deployment is not known yet')
  }

  /** Everything that a chat needs; undefined until all of it is known. */
  get loaded(): LoadedAgent | undefined {
    return this.deployment && this.agent ? { ...this.deployment, agent: this.agent } : undefined
  }

  /** The agent and the portal selection, as the `initialized` event carries them. */
  describeAgent(): InitializedAgent {
    const { agent = this.agent, portal, portalDetails, profile, ...available } = this.selection ?? {}
    return {
      ...(agent && { agent }),
      ...(portal && { portal }),
      ...(portalDetails && { portalDetails }),
      ...(profile && { profile }),
      ...available,
    }
  }

  /** Discards everything except the deployment. */
  forgetUser(): void {
    this.agent = undefined
    this.user = null
    this.scopes = []
    this.setSelection(undefined)
  }
}
