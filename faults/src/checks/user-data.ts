import type { SessionRecord } from '@aiagent/emulator'
import type { Host } from '../host/host.ts'
import { markOf } from '../host/host-message.ts'
import { subjectOf } from '../service/service.ts'
import { receivedIn } from './delivery.ts'
import { examples, type Violation } from './violation.ts'

/** Looks for data of earlier users in everything that the agent holds. For a moment at which no user is leaving. */
export async function checkHeldData(host: Host): Promise<Violation[]> {
  const { agent, memory, stores, store, unnamedUsers, user } = host
  const { session, local } = stores
  const kept = memory.keys().map(key => [key, memory.get(key)])
  const places = {
    transcript: agent.getTranscriptAsJSON(),
    context: agent.getContext(),
    'session storage': [...session.entries],
    'local storage': [...local.entries],
    memory: kept,
  }
  // Keys name the user. A user whom the process does not know cannot be found in a store that users share.
  const shared = { 'the store of the host': [...(store?.entries ?? [])] }
  return Object.entries({ ...places, ...shared }).flatMap(([place, content]) => {
    const excepted = place in shared ? unnamedUsers : new Set<number>()
    const found = usersIn(JSON.stringify(content), user - 1).filter(each => !excepted.has(each))
    return found.length === 0 ? [] : [{ kind: 'user data', text: `${place} of user ${user} holds data of ${found}` }]
  })
}

/** Checks that the service received data of one user at most in each session, and that events showed no other's. */
export function checkSharedData(host: Host, sessions: readonly SessionRecord[], hasSubjects: boolean): Violation[] {
  const violations: Violation[] = []
  for (const session of sessions) {
    const frames = JSON.stringify([receivedIn(session), session.context, session.received.entries().map(f => f.data)])
    const users = usersIn(frames, host.user)
    if (users.length > 1)
      violations.push({ kind: 'user data', text: `session ${session.id} received data of users ${users.join(', ')}` })
    const strange = hasSubjects ? users.filter(user => subjectOf(user) !== session.subject) : []
    if (strange.length > 0)
      violations.push({
        kind: 'user data',
        text: `session ${session.id} of ${session.subject} received data of users ${strange.join(', ')}`,
      })
  }
  const shown = host.events.reported.filter(
    ({ user, message }) => earlierUsers(JSON.stringify([message.content, message.messageData]), user).length > 0,
  )
  if (shown.length > 0)
    violations.push({
      kind: 'user data',
      text: `events showed data of earlier users: ${examples(shown.map(({ user, message }) => `user ${user} saw ${message.content}`))}`,
    })
  return violations
}

function earlierUsers(text: string, user: number): string[] {
  return usersIn(text, user - 1).map(each => `user ${each}`)
}

/** The users, up to the last one, whose data a text contains. */
function usersIn(text: string, last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1).filter(user => text.includes(markOf(user)))
}
