import type { Environment } from '@aiagent/client'
import type { Emulator, EmulatorOptions, SessionRecord } from '@aiagent/emulator'
import { DEFAULT_WORLD } from '@aiagent/emulator'
import type { RunSetup, Step } from '../schedule/step.ts'
import type { RunClock } from './run-clock.ts'

/** A step that concerns the network below the service. */
export type TcpStep = Extract<Step, { do: `tcp-${string}` }>

/** The service of a run, with the network before it. */
export interface RunService {
  readonly clock: RunClock
  readonly emulator: Emulator
  /** Address for the agent. */
  readonly endpoint: string
  /** `fetch` and `WebSocket` for the agent, unless the platform's own are used. */
  readonly environment: Partial<Environment>
  /** Every session so far, also forgotten ones, in the order of their creation. */
  readonly sessions: readonly SessionRecord[]
  /** Number of sockets of the agent that are open or opening. */
  readonly openSockets: number
  /** Highest number of sockets of the agent at the same time. */
  readonly mostSockets: number
  applyTcp(step: TcpStep): void
  /** Ends all faults of the network. */
  heal(): void
  /** Ends everything. */
  close(): Promise<void>
}

/** The part of a run's conditions that concerns the service. */
export type ServiceSetup = Pick<RunSetup, 'replyDelayMs' | 'unknownSession' | 'capabilities' | 'history'> &
  Partial<Pick<RunSetup, 'agent'>>

const CONTACT_CENTER_AGENTS = DEFAULT_WORLD.agents.filter(({ details }) => details.agentType === 'contact-center')

const MASKING = DEFAULT_WORLD.departments?.find(({ maskingPatterns }) => maskingPatterns)?.maskingPatterns ?? {}

/** Subject of a user's tokens. */
export const subjectOf = (user: number): string => `user-${user}`

/** More users than a schedule has steps. */
const EMPLOYEES = Array.from({ length: 70 }, (_, index) => ({
  id: subjectOf(index + 1),
  userType: 'agent' as const,
  name: 'Employee',
  details: { departmentId: 999, languageCode: 'en-us' },
}))

/** Options of the emulator for a run. Nothing that the checks read may be forgotten. */
export function emulatorOptions(setup: ServiceSetup, seed: number, clock: RunClock): EmulatorOptions {
  return {
    seed,
    clock: clock.service,
    world: {
      ...DEFAULT_WORLD,
      agents: [
        ...(['help', 'account'] as const).map(agentId => ({
          details: {
            agentId,
            name: 'Help Desk',
            isAuthenticated: agentId === 'account',
            userType: 'customer' as const,
          },
        })),
        ...CONTACT_CENTER_AGENTS.map(({ details }) => ({ details: { ...details, enableDataMasking: true } })),
      ],
      // Masks nothing that a user writes in a run.
      departments: (DEFAULT_WORLD.departments ?? []).map(department => ({
        ...department,
        maskingPatterns: MASKING,
      })),
      users: [...(DEFAULT_WORLD.users ?? []), ...(setup.agent === 'desk' ? EMPLOYEES : [])],
    },
    reply: ({ text }) => ({ content: answerTo(text) }),
    settings: {
      replyDelayMs: setup.replyDelayMs,
      unknownSession: setup.unknownSession,
      capabilities: setup.capabilities,
      sendHistory: setup.history === 'chat',
      historyLimit: 100_000,
      recordingLimit: 1_000_000,
    },
  }
}

/** In each answer, and masked where an agent masks. */
export const CARD_NUMBER = '4111 1111 1111 1111'

/** What the service answers to a message. */
export const answerTo = (text: string): string => `With ${CARD_NUMBER} you said: ${text}`

/** Collects every session that the service creates. */
export function collectSessions({ world }: Emulator): SessionRecord[] {
  const sessions: SessionRecord[] = []
  const add = world.addSession.bind(world)
  world.addSession = session => {
    const record = add(session)
    sessions.push(record)
    return record
  }
  return sessions
}
