import { readFile } from 'node:fs/promises'
import { FaultError } from '../faults/fault.ts'
import { parseFaultSchedule, type ScheduledFault } from '../faults/fault-schedule.ts'

/**
 * Loads a schedule of faults from a JSON file: `[{ "afterMs": 5000, "fault": { "kind": "drop" } }, …]`.
 *
 * @throws {FaultError} when it cannot be read or is invalid, naming the file and the entry
 */
export async function loadFaultSchedule(file: string): Promise<ScheduledFault[]> {
  let text: string
  try {
    text = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new FaultError(`The schedule of faults cannot be read: ${why}.`, { cause })
  }
  return parseFaultSchedule(text, file)
}
