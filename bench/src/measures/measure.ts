import type { Finding } from '../figure.ts'
import type { Programs } from '../programs.ts'

/** What a measurement may use. */
export interface Bench {
  readonly programs: Programs
  /** How often to repeat: the first number, or the second with `--quick`. */
  times(usually: number, quick: number): number
  /**
   * Runs work against the service in a separate process, and ends that process.
   *
   * @param pages a folder with the files of a page that the service serves too
   */
  withService<T>(delayMs: number, work: (endpoint: string) => Promise<T>, pages?: string): Promise<T>
}

/** One measurement: returns its findings, or none with a reason in `console.warn`. */
export type Measure = (bench: Bench) => Promise<Finding[]>
