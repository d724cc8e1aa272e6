/** Longest message in bytes, as it is written to the chat: services may refuse frames above 64 KiB. */
const LIMIT_BYTES = 64 * 1024
/** What a frame holds beside the text. */
const ENVELOPE_BYTES = 1024
/** Number of characters that remain from which the user is told. */
const NEAR = 1000

const encoder = new TextEncoder()

/** Bytes of a text in a frame. */
function bytesOf(text: string): number {
  return encoder.encode(JSON.stringify(text)).length
}

const MAX_BYTES = LIMIT_BYTES - ENVELOPE_BYTES
/** A character takes at most six bytes: shorter texts need not be measured. */
const SURELY_FITS = Math.floor(MAX_BYTES / 6) - NEAR

/** By how many characters a text is too long to be sent; 0 where it fits. */
export function excessOf(text: string): number {
  if (text.length < SURELY_FITS || bytesOf(text) <= MAX_BYTES) return 0
  let fits = 0
  let tooLong = text.length
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1
    if (bytesOf(text.slice(0, middle)) <= MAX_BYTES) fits = middle
    else tooLong = middle
  }
  return text.length - fits
}

/** How many characters of one byte still fit; undefined while there is much room. */
export function remainingOf(text: string): number | undefined {
  if (text.length < SURELY_FITS) return undefined
  const remaining = MAX_BYTES - bytesOf(text)
  return remaining < NEAR ? remaining : undefined
}
