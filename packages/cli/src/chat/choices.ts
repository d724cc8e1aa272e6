import type { AiAgent } from '@aiagent/client'
import type { AgentListItem, Id, Portal, UserProfile } from '@aiagent/protocol'
import { CommandFailure, explainFailure, type FailureSetting } from '../failure.ts'
import { oneLine, type Style } from '../output.ts'

/** One entry of a list to choose from. */
interface Choice {
  readonly id: Id
  readonly name: string
  /** A remark beside the name; may be empty. */
  readonly note: string
}

/** A selection that the user has to make. */
interface Gate {
  readonly what: 'portal' | 'agent' | 'profile'
  readonly choices: readonly Choice[]
  /** Selects an entry. Resolves at the next gate, or when the agent is ready. */
  take(id: Id, signal: AbortSignal): Promise<unknown>
}

/** Tracks the open selection of the agent. Call it before `initialize()`. */
export function followGates(agent: AiAgent): () => Gate | undefined {
  let gate: Gate | undefined
  agent.on('portalsAvailable', ({ payload: { portals } }) => {
    const take: Gate['take'] = (id, signal) => agent.selectPortal({ id }, { signal })
    gate = { what: 'portal', choices: portals.map(portalChoice), take }
  })
  agent.on('agentsAvailable', ({ payload: { agents } }) => {
    const take: Gate['take'] = (agentId, signal) => agent.selectAgent({ agentId }, { signal })
    gate = { what: 'agent', choices: agents.map(agentChoice), take }
  })
  agent.on('profilesAvailable', ({ payload: { profiles } }) => {
    const take: Gate['take'] = (id, signal) => agent.selectUserProfile({ id }, { signal })
    gate = { what: 'profile', choices: profiles.map(profileChoice), take }
  })
  return () => gate
}

export interface ChoosingOptions {
  agent: AiAgent
  /** The result of {@link followGates}. */
  gate(): Gate | undefined
  style: Style
  setting: FailureSetting
  /** The next line of the user; `undefined` at the end of the input. */
  readLine(): Promise<string | undefined>
  /** Whether to ask again after an invalid choice. */
  asksAgain: boolean
  interrupted: AbortSignal
  show(text: string): void
}

/**
 * Asks the user for portal, agent and profile, as far as there is a choice.
 *
 * @returns true when the agent is ready; false when the user exited
 * @throws {CommandFailure} without `asksAgain`, for an invalid or missing choice
 */
export async function choose(options: ChoosingOptions): Promise<boolean> {
  const { agent, style, setting, readLine, asksAgain, interrupted, show } = options
  let shown: Gate | undefined
  while (!agent.getIsInitialized()) {
    const gate = options.gate()
    if (!gate) throw new CommandFailure('The agent is not ready, and offers no choice.')
    if (gate !== shown) show(formatChoices(gate, style))
    shown = gate
    const line = await readLine()
    interrupted.throwIfAborted()
    if (line === undefined || line.trim() === '/quit') {
      if (asksAgain) return false
      throw new CommandFailure(`No ${gate.what} was chosen: the input has no more lines. ${offer(gate)}`)
    }
    const text = line.trim()
    if (text === '') continue
    const found = choiceFor(gate, text)
    if (typeof found === 'string') {
      if (!asksAgain) throw new CommandFailure(`${found} ${offer(gate)}`)
      show(style.warning(found))
      continue
    }
    show(style.dim(`  → ${found.name}`))
    try {
      await gate.take(found.id, interrupted)
    } catch (error) {
      if (!asksAgain || interrupted.aborted) throw error
      // The choice is open again.
      show(style.warning(explainFailure(error, setting)))
    }
  }
  return true
}

/** Finds the choice for a line: by position, name, id, or a unique beginning of a name. Else returns an error message. */
function choiceFor({ what, choices }: Gate, text: string): Choice | string {
  const numbered = /^\d+$/.test(text) ? choices[Number(text) - 1] : undefined
  if (numbered) return numbered
  const wanted = text.toLowerCase()
  const ways: ((choice: Choice) => boolean)[] = [
    ({ name }) => name.toLowerCase() === wanted,
    ({ id }) => String(id) === text,
    ({ name }) => name.toLowerCase().startsWith(wanted),
  ]
  for (const fits of ways) {
    const [first, second] = choices.filter(fits)
    if (first && second) return `"${oneLine(text)}" matches more than one ${what}. Type the number.`
    if (first) return first
  }
  return `There is no ${what} "${oneLine(text)}" in the list.`
}

function formatChoices({ what, choices }: Gate, style: Style): string {
  const rows = choices.map(({ name, note }, at) => {
    const number = style.bold(`${at + 1})`)
    return `  ${number} ${name}${note && style.dim(` – ${note}`)}`
  })
  return [`Choose ${what === 'agent' ? 'an' : 'a'} ${what}, by number or name:`, ...rows].join('\n')
}

/** The choices in one sentence. */
function offer({ choices }: Gate): string {
  return `Choose one of: ${choices.map(({ name }, at) => `${at + 1}) ${name}`).join(', ')}.`
}

const portalChoice = ({ id, name, description }: Portal): Choice => ({
  id,
  name: nameOf(name, id),
  note: oneLine(description ?? ''),
})

const agentChoice = ({ agentId, name, description }: AgentListItem): Choice => ({
  id: agentId,
  name: nameOf(name, agentId),
  note: oneLine(description ?? ''),
})

const profileChoice = ({ id, name, isLastUsedInPortal }: UserProfile): Choice => ({
  id,
  name: nameOf(name, id),
  note: isLastUsedInPortal ? 'used last' : '',
})

/** The name, or the id where there is no name: portals from init parameters have only ids at first. */
export function nameOf(name: string | null | undefined, id: Id): string {
  return oneLine(name ?? '') || oneLine(String(id))
}
