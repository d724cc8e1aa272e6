/** The three forms of a date in HTTP: of RFC 1123, of RFC 850, and of C's `asctime()`. */
const HTTP_DATE =
  /^[A-Z][a-z]{2,8},? (?:(\d\d)[ -]([A-Z][a-z]{2})[ -](\d{4}|\d\d)|([A-Z][a-z]{2}) ([ \d]\d)) (\d\d:\d\d:\d\d) (?:GMT|(\d{4}))$/

/** Milliseconds since the epoch; NaN for anything but a date of HTTP. */
function readDate(text: string): number {
  const [, day, month, year, asctimeMonth, asctimeDay, time, asctimeYear] = HTTP_DATE.exec(text) ?? []
  return Date.parse(`${day ?? asctimeDay} ${month ?? asctimeMonth} ${year ?? asctimeYear} ${time} GMT`)
}

/**
 * The wait that a header `Retry-After` asks for, in milliseconds: seconds, where a fraction is rounded up, or a date. A date
 * counts from the header `Date` of the same response, and from the device's clock where that one cannot be read.
 *
 * @returns undefined without the header, for a date in the past, and for anything else
 */
export function readRetryAfter(
  retryAfter: string | null | undefined,
  date: string | null | undefined,
  now: number,
): number | undefined {
  const text = retryAfter?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text)) * 1_000
  const answeredAt = readDate(date?.trim() ?? '')
  const waitMs = readDate(text) - (Number.isNaN(answeredAt) ? now : answeredAt)
  return waitMs >= 0 ? waitMs : undefined
}
