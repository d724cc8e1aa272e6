import { isUserMessage } from '../log/compose.ts'
import type { Message } from '../log/message.ts'
import type { Masking } from '../masking/masking.ts'
import { utf8Bytes } from '../util/utf8.ts'

/* What happens to a message right before it is written. Pure functions. */

/**
 * The message with its user text masked (FLOW-19).
 *
 * @throws {MessageError} reason `masking_unavailable`
 */
export function maskMessage(message: Message, masking: Pick<Masking, 'maskOutgoing'>): Message {
  const { content } = message
  if (!isUserMessage(message) || !content) return message
  const masked = masking.maskOutgoing(content, message.messageId as string)
  return masked === content ? message : message.clone({ content: masked })
}

/** The service may reject larger frames; its limit is unknown (PROTOCOL.md, "Chat WebSocket"). */
const LARGE_BYTES = 64 * 1024

/** A UTF-16 unit takes at most three bytes of UTF-8, so a short frame needs no counting. */
const MAX_BYTES_PER_UNIT = 3

/** Size of a frame in bytes when it is above 64 KiB, else undefined. */
export function largeFrameBytes(frame: string): number | undefined {
  if (frame.length * MAX_BYTES_PER_UNIT <= LARGE_BYTES) return undefined
  const bytes = utf8Bytes(frame).length
  return bytes > LARGE_BYTES ? bytes : undefined
}
