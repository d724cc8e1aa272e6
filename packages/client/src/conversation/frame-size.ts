/** Frames above this may be refused: the service's own limit is not known (PROTOCOL.md, "Chat WebSocket"). */
const LARGE_BYTES = 64 * 1024

/** A UTF-16 unit takes three bytes of UTF-8 at most, so that a short frame needs no counting. */
const LARGEST_UNIT_BYTES = 3

/** The size of a frame in bytes when it is large, else undefined. */
export function largeFrameBytes(frame: string): number | undefined {
  if (frame.length * LARGEST_UNIT_BYTES <= LARGE_BYTES) return undefined
  const bytes = new TextEncoder().encode(frame).length
  return bytes > LARGE_BYTES ? bytes : undefined
}
