import { MAX_FRAME_BYTES } from '@aiagent/protocol'

/** A frame above this many characters closes the connection instead of being answered. */
export const MAX_SOCKET_PAYLOAD = 1024 * 1024

const encoder = new TextEncoder()

/** The decision by a frame's size. Counts bytes only if the number of characters is not sufficient. */
export function sizeRefusal(data: unknown): 'answer' | 'close' | undefined {
  if (typeof data !== 'string' || data.length * 3 <= MAX_FRAME_BYTES) return undefined
  if (data.length > MAX_SOCKET_PAYLOAD) return 'close'
  return data.length > MAX_FRAME_BYTES || encoder.encode(data).length > MAX_FRAME_BYTES ? 'answer' : undefined
}
