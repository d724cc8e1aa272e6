import { type Fault, WEATHERS } from '@aiagent/emulator'
import { ROLE } from '@aiagent/protocol'

/** A fault that a button applies. */
export interface FaultAction {
  readonly id: string
  readonly label: string
  /** What it does, in a sentence. */
  readonly description: string
  /** Whether it lasts until it is lifted. */
  readonly isLasting: boolean
  /** The faults of the emulator that it consists of. */
  faults(sessionId: string | undefined): readonly Fault[]
}

/** A fault without a session applies to all sessions. */
const of = (sessionId: string | undefined) => (sessionId === undefined ? {} : { sessionId })

const once = (action: Omit<FaultAction, 'isLasting'>): FaultAction => ({ ...action, isLasting: false })
const lasting = (action: Omit<FaultAction, 'isLasting'>): FaultAction => ({ ...action, isLasting: true })

/** The faults of the connection, of the service and of the session, and what else stands between client and service. */
export const FAULT_GROUPS: readonly { readonly title: string; readonly actions: readonly FaultAction[] }[] = [
  {
    title: 'Connection',
    actions: [
      once({
        id: 'cut',
        label: 'Cut',
        description: 'Breaks the chat connection without a close frame (1006). It can be opened again at once.',
        faults: sessionId => [{ kind: 'drop', ...of(sessionId) }],
      }),
      lasting({
        id: 'outage',
        label: 'Cut for 10 s',
        description: 'Breaks the chat connection, and refuses new ones for ten seconds. Type meanwhile.',
        faults: sessionId => [
          { kind: 'refuse-upgrade', status: 503, forMs: 10_000, ...of(sessionId) },
          { kind: 'drop', ...of(sessionId) },
        ],
      }),
      lasting({
        id: 'half-open',
        label: 'Half-open',
        description: 'No frame passes in either direction, while the connection looks open.',
        faults: sessionId => [{ kind: 'silence', ...of(sessionId) }],
      }),
      lasting({
        id: 'slow',
        label: 'Slow',
        description: 'Calls and frames take 1.2 to 1.8 seconds longer, in each direction.',
        faults: sessionId => [
          { kind: 'delay-requests', ms: 1200, jitterMs: 600 },
          { kind: 'delay-frames', ms: 1200, jitterMs: 600, ...of(sessionId) },
        ],
      }),
    ],
  },
  {
    title: 'Service',
    actions: [
      lasting({
        id: 'refuse',
        label: 'Refuse',
        description: 'Calls and new connections are answered with 503. An open connection continues.',
        faults: () => [
          { kind: 'answer', status: 503, body: { code: '503-000', message: 'Refused on request.' } },
          { kind: 'refuse-upgrade', status: 503 },
        ],
      }),
      once({
        id: 'restart',
        label: 'Restart',
        description: 'Closes connections with 1001, fails calls in flight, and does not answer for four seconds.',
        faults: () => [{ kind: 'restart', downMs: 4000 }],
      }),
      once({
        id: 'expire',
        label: 'Expire the token',
        description:
          'All tokens issued so far expire now. The next message or call is refused until the client has a new one.',
        faults: () => [{ kind: 'expire-tokens' }],
      }),
    ],
  },
  {
    title: 'Session',
    actions: [
      once({
        id: 'forget-session',
        label: 'Forget',
        description: 'The service no longer knows the session (4404, then 404).',
        faults: sessionId => [{ kind: 'forget-session', ...of(sessionId) }],
      }),
      once({
        id: 'end-session',
        label: 'End',
        description: 'The service ends the session (1000, then 410).',
        faults: sessionId => [{ kind: 'end-session', ...of(sessionId) }],
      }),
    ],
  },
  {
    title: 'Weather',
    actions: Object.entries(WEATHERS).map(([name, { about, passing, staying = passing }]) =>
      lasting({
        id: name.replaceAll(' ', '-'),
        label: name.replace(/^./, first => first.toUpperCase()),
        description: about,
        faults: () => staying,
      }),
    ),
  },
]

/** Frames to push, as faults. Any other fault can be written instead. */
export const FRAME_TEMPLATES: Readonly<Record<string, Fault>> = {
  'Unasked message': { kind: 'say', content: 'Are you still there? Your router was shipped **today**.' },
  'Message with options': {
    kind: 'say',
    role: ROLE.FOLLOW_UP_QUESTION,
    content: 'Which of them is it?',
    messageData: { options: ['The router', 'The repeater'] },
  },
  'Hand-over by phone or email': {
    kind: 'say',
    content: 'A human can help you further.',
    messageData: {
      escalation: true,
      escalationData: { live: false, options: [{ type: 'phone', value: '+44 20 7946 0000' }] },
    },
  },
  Heartbeat: { kind: 'push', frame: { persona: 'system', role: ROLE.HEARTBEAT } },
  'Error of the service': {
    kind: 'push',
    frame: {
      persona: 'metadata',
      role: ROLE.ERROR,
      content: 'The agent is not available.',
      messageData: { error_code: '500-001' },
    },
  },
  'Unreadable frame': { kind: 'push', frame: 'not even JSON' },
  'The last frame again': { kind: 'replay' },
}
