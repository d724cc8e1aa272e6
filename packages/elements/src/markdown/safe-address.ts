const LINKS = new Set(['http:', 'https:', 'mailto:', 'tel:'])

/**
 * The address of a link in an answer; undefined for one that is not absolute, that has another scheme than `https`, `http`,
 * `mailto` and `tel`, or that holds credentials.
 */
export function linkAddress(text: string): string | undefined {
  const url = parse(text)
  return url && LINKS.has(url.protocol) && !url.username && !url.password ? url.href : undefined
}

/** The address of an image in an answer, if it is one of the origins that the host app allows. */
export function imageAddress(text: string, origins: readonly string[]): string | undefined {
  const url = parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined
  return origins.some(origin => parse(origin)?.origin === url.origin) ? url.href : undefined
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
