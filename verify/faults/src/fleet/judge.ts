import type { Emulator } from '@aiagent/emulator'
import type { FleetEvents } from '@aiagent/fleet'
import { Redis } from 'ioredis'
import type { WatchedFrame } from './watched-service.ts'

/** What the sender of a campaign did and was told. */
export interface Account {
  /** Accepted messages: id → text. Every text is unique. */
  readonly sent: ReadonlyMap<string, string>
  readonly updates: readonly FleetEvents['deliveryUpdate'][]
  readonly said: readonly FleetEvents['agentMessage'][]
}

/** The verdict. All counts of the second part must be 0. */
export interface Verdict {
  readonly messages: number
  readonly acknowledged: number
  /** On the plain wire: written to a connection that has lasted. */
  readonly sent: number
  readonly unknown: number
  readonly answers: number
  readonly frames: number
  readonly violations: Readonly<Record<Violation, number>>
}

export type Violation =
  | 'lost without a word'
  | 'acknowledged or sent, but not at the service'
  | 'doubled at the service'
  | 'answer not told'
  | 'answer told twice'
  | 'told in another conversation'
  | 'frame without the lease'

/** Judges a campaign by the record of the emulator. Texts are `<conversation>#<number>`, and answers repeat them. */
export function judge(
  { sent, updates, said }: Account,
  emulator: Emulator,
  frames: readonly WatchedFrame[],
  leases: readonly Lease[],
): Verdict {
  const accepted = acceptedTexts(emulator)
  const outcomes = new Map<string, FleetEvents['deliveryUpdate']['state']>()
  for (const { id, state } of updates) outcomes.set(id, state)
  const answers = new Map<string, number>()
  let strayed = 0
  for (const { conversationId, message } of said) {
    const text = (message.content ?? '').replace(/^re: /, '')
    answers.set(text, (answers.get(text) ?? 0) + 1)
    if (!text.startsWith(`${conversationId}#`)) strayed++
  }
  const list = [...sent]
  const count = (is: (entry: [id: string, text: string]) => boolean) => list.filter(is).length
  return {
    messages: sent.size,
    acknowledged: count(([id]) => outcomes.get(id) === 'acknowledged'),
    sent: count(([id]) => outcomes.get(id) === 'sent'),
    unknown: count(([id]) => outcomes.get(id) === 'unknown'),
    answers: said.length,
    frames: frames.length,
    violations: {
      'lost without a word': count(([id]) => !outcomes.has(id)),
      'acknowledged or sent, but not at the service': count(
        ([id, text]) => ['acknowledged', 'sent'].includes(outcomes.get(id) ?? '') && !accepted.has(text),
      ),
      'doubled at the service': [...accepted.values()].filter(times => times > 1).length,
      'answer not told': [...accepted.keys()].filter(text => !answers.has(text)).length,
      'answer told twice': [...answers.values()].filter(times => times > 1).length,
      'told in another conversation': strayed,
      'frame without the lease': frames.filter(frame => isStale(frame, leases)).length,
    },
  }
}

/** How often the service has accepted each text of the user, without repetitions. */
export function acceptedTexts(emulator: Emulator): Map<string, number> {
  const accepted = new Map<string, number>()
  for (const record of emulator.world.records.values())
    for (const { message, duplicate } of record.accepted.entries())
      if (message.persona === 'customer' && !duplicate)
        accepted.set(message.content ?? '', (accepted.get(message.content ?? '') ?? 0) + 1)
  return accepted
}

/** An acquisition of a shard. */
export interface Lease {
  /** Milliseconds since the epoch, on the clock of Redis. */
  readonly at: number
  readonly shard: number
  readonly number: number
}

/** Every acquisition that Redis has noted. */
export async function readLeases(redis: string, name: string, shards: number): Promise<Lease[]> {
  const connection = new Redis(redis)
  const leases: Lease[] = []
  for (let shard = 0; shard < shards; shard++)
    for (const [id, fields] of await connection.xrange(`{${name}:s${shard}}:history`, '-', '+'))
      leases.push({ at: Number(id.split('-')[0]), shard, number: Number(fields[fields.indexOf('number') + 1]) })
  connection.disconnect()
  return leases
}

/** Whether another worker had the shard already when the service got the frame. */
function isStale(frame: WatchedFrame, leases: readonly Lease[]): boolean {
  return leases.some(({ shard, number, at }) => shard === frame.shard && number > frame.number && at < frame.at)
}
