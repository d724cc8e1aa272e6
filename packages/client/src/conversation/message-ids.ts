/** Ids that one random UUID is good for. */
const BLOCK = 0x10000

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * Makes ids for messages: UUIDs of which 65,536 in a row share all but the last four digits, since asking the platform
 * for each costs about half of what writing a short message as JSON does. They are unique, not secret: each names a message to the
 * host that sent it and does not leave the client.
 */
export function createMessageIds(randomUUID: () => string): () => string {
  let head = ''
  let next = BLOCK
  return () => {
    if (next === BLOCK) {
      head = randomUUID().slice(0, -4)
      next = 0
    }
    const id = `${head}${HEX[next >> 8]}${HEX[next & 0xff]}`
    next++
    return id
  }
}
