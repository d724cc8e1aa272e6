import { type Allowance, isAllowed } from './allowances.ts'
import type { Canaries, CanaryKind, CanaryPlace } from './canary.ts'
import { type CanaryForm, createFinder } from './find-canary.ts'
import type { Sightings } from './sightings.ts'

/** A planted value in a place where it must not be. */
export interface Leak {
  /** Kind of the planted value. */
  readonly kind: CanaryKind
  /** Where the value was planted. */
  readonly place: CanaryPlace
  /** Name of the sink, such as `console`, `URL` or `local storage`. */
  readonly sink: string
  /** The place in the sink: a key, a method and path, the name of a span. */
  readonly where: string
  /** How the value was written. */
  readonly form: CanaryForm
  /** The text around it. */
  readonly excerpt: string
}

/** The result of an audit. */
export interface PrivacyReport {
  /** The leaks, each once for its kind, place, sink and place in the sink. */
  readonly leaks: readonly Leak[]
  /** How many texts of each sink were scanned. */
  readonly scanned: Readonly<Record<string, number>>
  /** Steps of the conversation that did not happen: the audit has not seen all it should. */
  readonly incomplete: readonly string[]
}

/** Scans what reached the sinks. */
export function createReport(
  sightings: Sightings,
  canaries: Canaries,
  { allowances, incomplete }: { allowances: readonly Allowance[]; incomplete: readonly string[] },
): PrivacyReport {
  const finders = canaries.all.map(canary => ({ ...canary, find: createFinder(canary) }))
  const leaks = new Map<string, Leak>()
  const scanned: Record<string, number> = {}
  for (const { sink, where, text } of sightings.all) {
    scanned[sink] = (scanned[sink] ?? 0) + 1
    for (const { kind, place, find } of finders) {
      const key = [kind, place, sink, where].join(' ')
      if (leaks.has(key) || isAllowed(allowances, { kind, place, sink, where })) continue
      const occurrence = find(text)
      if (occurrence) leaks.set(key, { kind, place, sink, where, ...occurrence })
    }
  }
  return { leaks: [...leaks.values()], scanned, incomplete: [...incomplete] }
}

/** The report as text: a line for each leak, and for each step that did not happen. */
export function formatReport({ leaks, scanned, incomplete }: PrivacyReport): string {
  const sinks = Object.entries(scanned).map(([sink, count]) => `${sink} (${count})`)
  return [
    ...leaks.map(
      ({ kind, place, sink, where, form, excerpt }) =>
        `leak: the ${kind} of the ${place} is in ${sink}, ${where} (${form}): ${JSON.stringify(excerpt)}`,
    ),
    ...incomplete.map(step => `incomplete: ${step}`),
    `Scanned: ${sinks.join(', ')}. ${leaks.length} leaks.`,
  ].join('\n')
}

/**
 * Fails a test of a host.
 *
 * @throws {Error} with the report, when there is a leak, or when the conversation was incomplete
 */
export function assertNoLeaks(report: PrivacyReport): void {
  if (report.leaks.length > 0 || report.incomplete.length > 0) throw new Error(formatReport(report))
}
