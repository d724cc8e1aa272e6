import type { SessionRecord } from '@aiagent/emulator'
import { type Host, SHARED_STORE } from '../host/host.ts'
import { markOf } from '../host/host-message.ts'
import { CARD_NUMBER, subjectOf } from '../service/service.ts'
import { receivedIn } from './delivery.ts'
import { examples, type Violation } from './violation.ts'

/** Looks for data of earlier users in everything that the agent holds. For a moment at which no user is leaving. */
export async function checkHeldData(host: Host): Promise<Violation[]> {
  const { agent, formerTokens, unnamedUsers, user } = host
  const stored = host.storedTexts()
  const places = {
    transcript: JSON.stringify(agent.getTranscriptAsJSON()),
    context: JSON.stringify(agent.getContext()),
    ...stored,
  }
  return Object.entries(places).flatMap(([place, text]): Violation[] => {
    // Keys name the user. A user whom the process does not know cannot be found in a store that users share.
    const excepted = place === SHARED_STORE ? unnamedUsers : new Set<number>()
    const found = usersIn(text, user - 1).filter(each => !excepted.has(each))
    const tokens = [...formerTokens].filter(token => text.includes(token))
    return [
      ...(found.length === 0 ? [] : [`data of ${found}`]),
      ...(tokens.length === 0 ? [] : [`${tokens.length} tokens of users who have left`]),
    ].map(what => ({ kind: 'user data', text: `${place} of user ${user} holds ${what}` }))
  })
}

/** Looks for secrets in what the agent of the present process gives to others. */
export function checkExports(host: Host, sessions: readonly SessionRecord[]): Violation[] {
  const { recording, telemetry } = host.exports
  const secrets = { 'a session id': sessions.map(({ id }) => id), 'a token': host.tokens }
  const texts = { 'a text of a user': Array.from({ length: host.user }, (_, user) => markOf(user + 1)) }
  const masked = host.masks ? { 'what masking covers': [CARD_NUMBER] } : {}
  const found = (place: string, text: string, wanted: Record<string, readonly string[]>) =>
    Object.entries(wanted).flatMap(([what, values]): Violation[] =>
      values.some(value => text.includes(value)) ? [{ kind: 'user data', text: `${place} holds ${what}` }] : [],
    )
  return [
    ...found('the recording', recording, { ...secrets, ...texts, ...masked }),
    ...found('the telemetry', telemetry, { ...secrets, ...masked }),
  ]
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
