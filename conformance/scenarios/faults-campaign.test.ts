import fc from 'fast-check'
import { anyRun, CampaignRun, warmUp } from '../fault-campaign.ts'
import { verifiesAlone } from '../verifies.ts'

/** Repeatable runs. For more and other ones: `FAULT_RUNS=5000 FAULT_SEED=7 npm run conformance`. */
const RUNS = Number(process.env['FAULT_RUNS'] ?? 300)
const SEED = Number(process.env['FAULT_SEED'] ?? 2026)

verifiesAlone(
  ['OWN-01', 'OWN-02', 'OWN-06', 'OWN-07'],
  'for any sequence of faults, every call settles, accepted messages arrive once and in order or are reported as ' +
    'lost, and the agent recovers and leaves nothing behind',
  async () => {
    await warmUp()
    await fc.assert(
      fc.asyncProperty(anyRun, run => new CampaignRun().play(run)),
      { numRuns: RUNS, seed: SEED },
    )
  },
)
