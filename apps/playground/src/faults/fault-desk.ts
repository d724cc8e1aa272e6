import { type Fault, type FaultInForce, parseFault } from '@aiagent/emulator'
import type { Conversation } from '../conversation/conversation.ts'
import { createStore, type Store } from '../store.ts'
import { FAULT_GROUPS, type FaultAction } from './fault-actions.ts'

/** What the panel of faults shows. */
export interface FaultDeskState {
  /** Ids of the actions whose faults are active. */
  readonly active: readonly string[]
  /** Time that the agent takes for an answer, in milliseconds; undefined until the service has told it. */
  readonly answerMs: number | undefined
  /** Why the last action failed; empty otherwise. */
  readonly problem: string
}

/** Applies faults to the service of a conversation, and notes them in its journal. */
export interface FaultDesk {
  readonly store: Store<FaultDeskState>
  /** Applies an action; lifts it when it is active. */
  run(action: FaultAction): Promise<void>
  /** Applies a fault that is written as JSON. */
  runText(text: string): Promise<void>
  /** Lifts all active faults. */
  liftAll(): Promise<void>
  /** Changes how long the agent takes for an answer, in milliseconds. */
  setAnswerTime(ms: number): Promise<void>
  /** Continues with a token of a user, which signs the previous one out. */
  changeUser(subject: string): Promise<void>
  /** Forgets the timers, and lifts what is active. */
  end(): void
}

interface ActiveAction {
  readonly faultIds: readonly string[]
  readonly endSpan: () => void
}

/** Time between two questions for the active faults, in milliseconds: some end by themselves. */
const POLL_MS = 700

/** Stands for the active faults that no button causes: they are lifted with all others. */
const OTHERS = 'others'

/** Creates the desk for a conversation. */
export function createFaultDesk({ agent, facts, journal, service }: Conversation): FaultDesk {
  const store = createStore<FaultDeskState>({ active: [], answerMs: undefined, problem: '' })
  const active = new Map<string, ActiveAction>()
  let timer: ReturnType<typeof setInterval> | undefined
  let hasEnded = false

  const show = () => store.patch({ active: [...active.keys()] })
  const controls = () => {
    if (service.controls) return service.controls
    throw new Error('A deployment cannot be broken on request. Use the emulator.')
  }
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work()
      store.patch({ problem: '' })
    } catch (error) {
      store.patch({ problem: error instanceof Error ? error.message : String(error) })
    }
  }
  const finish = (id: string) => {
    active.get(id)?.endSpan()
    active.delete(id)
    if (active.size === 0) clearInterval(timer)
    show()
  }
  const poll = async () => {
    const ids = new Set((await controls().active()).map(({ id }) => id))
    for (const [id, { faultIds }] of active) if (!faultIds.some(each => ids.has(each))) finish(id)
  }
  const lift = async (id: string) => {
    const { faultIds } = active.get(id) ?? { faultIds: [] }
    await Promise.all(faultIds.map(each => controls().lift(each)))
    finish(id)
  }
  const apply = async ({ id, label, isLasting, faults }: FaultAction) => {
    const faultIds: string[] = []
    for (const fault of faults(facts.get().sessionId)) faultIds.push(await controls().add(fault))
    if (!isLasting) return journal.addFault(label)
    begin(id, label, faultIds)
  }
  const begin = (id: string, label: string, faultIds: readonly string[]) => {
    if (active.size === 0) timer = setInterval(() => void poll().catch(() => {}), POLL_MS)
    active.get(id)?.endSpan()
    active.set(id, { faultIds, endSpan: journal.beginFault(label) })
    show()
  }
  /** Shows the active faults that this desk does not know: those of the page before a reload, of another page, or of a JSON text. */
  const adopt = async () => {
    const inForce = await controls().active()
    if (hasEnded) return
    const known = new Set([...active.values()].flatMap(({ faultIds }) => faultIds))
    const found = new Map<string, string[]>()
    for (const { id, fault } of inForce)
      if (!known.has(id)) {
        const name = actionOf(fault)?.id ?? OTHERS
        found.set(name, [...(found.get(name) ?? []), id])
      }
    for (const [id, ids] of found) {
      const label = LASTING.find(action => action.id === id)?.label ?? 'Other faults'
      begin(id, label, [...(active.get(id)?.faultIds ?? []), ...ids])
    }
  }
  const readAnswerTime = async () => store.patch({ answerMs: await controls().answerTime() })
  if (service.controls) void attempt(async () => void (await Promise.all([adopt(), readAnswerTime()])))

  return {
    store,
    run: action => attempt(() => (active.has(action.id) ? lift(action.id) : apply(action))),
    runText: text =>
      attempt(async () => {
        const fault = parseFault(JSON.parse(text))
        await controls().add(inSession(fault, facts.get().sessionId))
        journal.addFault(fault.kind)
        await adopt()
      }),
    liftAll: () => attempt(async () => void (await Promise.all([...active.keys()].map(lift)))),
    setAnswerTime: ms =>
      attempt(async () => {
        store.patch({ answerMs: ms })
        await controls().change({ replyDelayMs: ms })
      }),
    changeUser: subject =>
      attempt(async () => {
        await agent.updateAccessToken(await controls().issueToken(subject))
        journal.addFault(`User: ${subject}`)
        const { status } = await agent.initialize()
        if (status === 'ready') await agent.connect()
      }),
    end: () => {
      hasEnded = true
      clearInterval(timer)
      for (const id of active.keys()) void lift(id).catch(() => {})
    },
  }
}

const LASTING = FAULT_GROUPS.flatMap(({ actions }) => actions).filter(({ isLasting }) => isLasting)

/** The action that causes a fault, in whichever session. */
function actionOf(inForce: FaultInForce['fault']): FaultAction | undefined {
  const fields = new Map(Object.entries(inForce))
  const isCaused = (fault: Fault) =>
    Object.entries(fault).every(([name, value]) => JSON.stringify(fields.get(name)) === JSON.stringify(value))
  return LASTING.find(action => action.faults(undefined).some(isCaused))
}

/** What is said or pushed goes to the session of this page, unless the fault names another one. */
function inSession(fault: Fault, sessionId: string | undefined): Fault {
  const isForOne = fault.kind === 'say' || fault.kind === 'push' || fault.kind === 'replay'
  return isForOne && fault.sessionId === undefined && sessionId !== undefined ? { ...fault, sessionId } : fault
}
