import { PERSONA, ROLE } from '@aiagent/protocol'

/*
 * The control frames between the programs of the bench and their service. A frame whose content begins with `#`
 * is for the service: it counts the following frames and reports when all have arrived, or sends frames itself.
 */

/** Asks the service for {@link DONE} after this number of further frames. */
export const expectFrames = (count: number): string => `#expect ${count}`

/**
 * The same for frames of so many bytes each, counted as bytes of the connection: reading frames takes the service about
 * as long as writing them takes a client, and would hide which client is the faster one.
 */
export const expectBytes = (count: number, bytes: number): string => `#bytes ${count * (bytes + headerOf(bytes))}`

/** Bytes in front of a masked frame's text: two, the longer length where it is needed, and the mask. */
const headerOf = (bytes: number): number => (bytes < 126 ? 2 : 4) + 4

/** Asks the service to send so many frames of so many bytes. */
export const pushFrames = (count: number, bytes: number): string => `#push ${count} ${bytes}`

/** Asks the service to send the same back. */
export const ECHO = '#echo'

/** What the service says when it counts bytes; nothing may be sent before. */
export const READY = '#ready'

/** What the service says when all have arrived. */
export const DONE = '#done'

const TEXT = 'How do I reset my router, it has been blinking since the storm of last night? '

/** Text of a length. */
export const text = (length: number): string => TEXT.repeat(Math.ceil(length / TEXT.length)).slice(0, length)

/** Texts whose frames have that many bytes each; more than one, so that nothing is remembered from the last. */
export function outboundTexts(bytes: number, count = 64): string[] {
  const overhead = JSON.stringify({ persona: PERSONA.CUSTOMER, role: ROLE.HUMAN, content: '' }).length
  return Array.from({ length: count }, (_, index) => String(index).padEnd(4) + text(bytes - overhead - 4))
}

/** Number of the next frame: each has another id, since a client drops an answer that it already has. */
let next = 0

/** Makes frames of the agent with that many bytes each. */
export function inboundFrame(bytes: number): () => string {
  const frame = (content: string) =>
    JSON.stringify({
      messageId: 'm-########',
      persona: PERSONA.AGENT,
      role: ROLE.CUSTOMER_SUPPORT,
      timestamp: 1_790_000_000_000,
      content,
    })
  const [head, tail] = frame(text(bytes - frame('').length)).split('########')
  return () => `${head}${String(next++).padStart(8, '0')}${tail}`
}

/** So many frames of the agent with that many bytes each. */
export function inboundFrames(bytes: number, count: number): string[] {
  return Array.from({ length: count }, inboundFrame(bytes))
}
