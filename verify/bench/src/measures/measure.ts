import type { Finding } from '../figure.ts'
import type { Programs } from '../programs.ts'
import type { Timeline } from '../timeline.ts'

/** The service in a separate process. */
export interface Service {
  readonly endpoint: string
  /** The calls since the last look. */
  takeTimeline(): Promise<Timeline>
}

/** What a measurement may use. */
export interface Bench {
  readonly programs: Programs
  /** How often to repeat: the first number, or the second with `--quick`. */
  times(usually: number, quick: number): number
  /**
   * Runs work against the service, over TLS, and ends the service.
   *
   * @param delayMs how long each answer and each upgrade waits
   * @param pages a folder with the files of a page that the service serves too
   */
  withService<T>(delayMs: number, work: (service: Service) => Promise<T>, pages?: string): Promise<T>
}

/** One measurement: returns its findings, or none with a reason in `console.warn`. */
export type Measure = (bench: Bench) => Promise<Finding[]>

/** Switch of a Chromium that has to trust the certificate of the service. */
export const TRUSTS_SERVICE = '--ignore-certificate-errors'

/** Times of both sides, and of the library in proportion to the bare ones. */
export interface Pairs {
  readonly bare: number[]
  readonly library: number[]
  readonly ratios: number[]
}

/** Measures both sides in pairs, in alternating order, so that a busy machine slows both. */
export async function alternating(
  count: number,
  measure: (side: 'bare' | 'library') => Promise<number>,
): Promise<Pairs> {
  const pairs: Pairs = { bare: [], library: [], ratios: [] }
  for (let pair = 0; pair < count; pair++) {
    const sides = ['bare', 'library'] as const
    for (const side of pair % 2 === 0 ? sides : sides.toReversed()) pairs[side].push(await measure(side))
    pairs.ratios.push((pairs.library[pair] ?? Number.NaN) / (pairs.bare[pair] ?? Number.NaN))
  }
  return pairs
}
