import { atMost, type Finding, summary } from '../figure.ts'
import type { ViewParameters, ViewResult } from '../programs/view.ts'
import type { Bench } from './measure.ts'

/** What an inbound message costs a conversation view. */
export async function view(bench: Bench): Promise<Finding[]> {
  const parameters: ViewParameters = { rounds: bench.times(30, 8) }
  const { messages, times } = await bench.programs.run<ViewResult>('view', parameters)
  return [{ name: `View, a message into ${messages}`, ...summary(times), unit: 'µs', goal: atMost(50) }]
}
