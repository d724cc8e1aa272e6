import * as v from 'valibot'
import { describeIssues, type Fault, FaultError, parseFault } from './fault.ts'

const EntrySchema = v.strictObject({
  afterMs: v.pipe(v.number(), v.finite(), v.minValue(0, 'must be 0 or more')),
  fault: v.unknown(),
})

/** A fault, and its time in milliseconds after the start. */
export interface ScheduledFault {
  /** Time after the start, in milliseconds. */
  afterMs: number
  /** The fault to add at that time. */
  fault: Fault
}

/** Faults with their times, in any order. */
export type FaultSchedule = readonly ScheduledFault[]

/**
 * Parses a schedule: a list of `{ "afterMs": 5000, "fault": { "kind": … } }`, as data or as JSON text.
 *
 * @param name name of the schedule in error messages, such as its file
 * @throws {FaultError} when it is not JSON or not such a list; the message names the entry and the field
 */
export function parseFaultSchedule(value: unknown, name = 'The schedule of faults'): ScheduledFault[] {
  const entries = typeof value === 'string' ? parseJson(value, name) : value
  if (!Array.isArray(entries)) throw new FaultError(`${name} must be a list of { "afterMs": …, "fault": { … } }.`)
  return entries.map((entry: unknown, index) => {
    const at = `${name}, entry ${index + 1}`
    const result = v.safeParse(EntrySchema, entry)
    if (!result.success) throw new FaultError(`${at} cannot be understood: ${describeIssues(result.issues)}.`)
    return { afterMs: result.output.afterMs, fault: parseFault(result.output.fault, `${at}: the fault`) }
  })
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new FaultError(`${name} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}
