import type { AiAgent } from '@aiagent/client'
import type { AgentListItem, Id, Portal, UserProfile } from '@aiagent/protocol'
import { CommandFailure, explainFailure, type FailureSetting } from '../failure.ts'
import { oneLine, type Style } from '../output.ts'

/** One thing that can be chosen. */
interface Choice {
  readonly id: Id
  readonly name: string
  /** What is to be known of it beside its name; may be empty. */
  readonly note: string
}

/** A point on the way where the person is to choose. */
interface Gate {
  readonly what: 'portal' | 'agent' | 'profile'
  readonly choices: readonly Choice[]
  /** Resolves at the next gate, or when nothing is left to choose. */
  take(id: Id, signal: AbortSignal): Promise<unknown>
}

/** Follows where the agent stands on its way. Begin before `initialize()`. */
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
  /** What {@link followGates} returned. */
  gate(): Gate | undefined
  style: Style
  setting: FailureSetting
  /** The next line of the person; undefined when there is none any more. */
  readLine(): Promise<string | undefined>
  /** Whether somebody is there who can be asked again. */
  asksAgain: boolean
  interrupted: AbortSignal
  show(text: string): void
}

/**
 * Leads the person through portal, agent and profile, as far as there is something to choose.
 *
 * @returns whether the agent is ready; false when the person left instead
 * @throws {CommandFailure} where nobody can be asked again: for a choice that is not in the list, or missing
 */
export async function choose(options: ChoosingOptions): Promise<boolean> {
  const { agent, style, setting, readLine, asksAgain, interrupted, show } = options
  let shown: Gate | undefined
  while (!agent.getIsInitialized()) {
    const gate = options.gate()
    if (!gate) throw new CommandFailure('The agent is not ready, and there is nothing to choose from.')
    if (gate !== shown) show(formatChoices(gate, style))
    shown = gate
    const line = await readLine()
    interrupted.throwIfAborted()
    if (line === undefined || line.trim() === '/quit') {
      if (asksAgain) return false
      throw new CommandFailure(`No ${gate.what} was chosen: the input has no line for it. ${offer(gate)}`)
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

/** What a typed line means: a place in the list, a name, an id, or the beginning of one name alone; else what is wrong. */
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
    if (first && second) return `More than one ${what} fits "${oneLine(text)}". Give the number.`
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

/** The same in one sentence. */
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

/** What to call a thing: portals that the host named are known by their ids alone at first. */
export function nameOf(name: string | null | undefined, id: Id): string {
  return oneLine(name ?? '') || oneLine(String(id))
}
