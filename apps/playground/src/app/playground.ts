import { type Conversation, createConversation } from '../conversation/conversation.ts'
import { createFaultDesk, type FaultDesk } from '../faults/fault-desk.ts'
import { deploymentScenario, SCENARIOS, type Scenario } from '../scenarios/scenarios.ts'
import { chooseService, readServedFacts } from '../service/choose-service.ts'
import type { Service } from '../service/service.ts'
import { createStore, type Store } from '../store.ts'

/** Views of a narrow page, which shows one at a time. */
export type Side = 'chat' | 'inspector' | 'faults'

/** What the page shows. */
export interface PlaygroundState {
  readonly conversation: Conversation
  readonly faults: FaultDesk
  readonly side: Side
}

/** The page: its services, its scenarios, and the conversation that runs. */
export interface Playground {
  readonly store: Store<PlaygroundState>
  readonly scenarios: readonly Scenario[]
  /** Address of the service that the server of the page named; undefined on a static host. */
  readonly servedEndpoint: string | undefined
  /** Ends the conversation, and begins the one of a scenario. */
  openScenario(scenario: Scenario): void
  /** Moves to the service in the page, or back to the served one. */
  useService(isInPage: boolean): void
  show(side: Side): void
}

/** Parameters in the hash of the page, so that an address can be passed on. */
interface Address {
  readonly scenario: string | null
  readonly isInPage: boolean
}

/** Creates the page's state from its address, and starts the conversation. */
export function createPlayground(): Playground {
  const served = readServedFacts(document)
  const address = readAddress()
  let service = chooseService(served, address.isInPage)
  const scenariosOf = (of: Service) => (of.controls ? SCENARIOS : ([deploymentScenario(served.agentId)] as const))
  const open = (scenario: Scenario) => {
    const conversation = createConversation(scenario, service)
    return { conversation, faults: createFaultDesk(conversation) }
  }
  const first = scenariosOf(service).find(({ id }) => id === address.scenario) ?? scenariosOf(service)[0]
  const store = createStore<PlaygroundState>({ ...open(first), side: 'chat' })

  const replace = (scenario: Scenario) => {
    const { conversation, faults } = store.get()
    faults.end()
    void conversation.end()
    writeAddress({
      scenario: scenario.id,
      isInPage: served.endpoint !== undefined && service.endpoint !== served.endpoint,
    })
    store.patch(open(scenario))
  }
  return {
    store,
    get scenarios() {
      return scenariosOf(service)
    },
    servedEndpoint: served.endpoint,
    openScenario: replace,
    useService: isInPage => {
      service = chooseService(served, isInPage)
      const { id } = store.get().conversation.scenario
      replace(scenariosOf(service).find(scenario => scenario.id === id) ?? scenariosOf(service)[0])
    },
    show: side => store.patch({ side }),
  }
}

function readAddress(): Address {
  const parameters = new URLSearchParams(location.hash.slice(1))
  return { scenario: parameters.get('scenario'), isInPage: parameters.get('service') === 'page' }
}

function writeAddress({ scenario, isInPage }: Address): void {
  const parameters = new URLSearchParams({ ...(scenario && { scenario }), ...(isInPage && { service: 'page' }) })
  history.replaceState(history.state, '', `#${parameters}`)
}
