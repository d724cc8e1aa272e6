import fc from 'fast-check'
import { anyRun, CampaignRun, warmUp } from '../fault-campaign.ts'
import { verifiesAlone } from '../verifies.ts'

/** The same runs every time. More of them, and others: `FAULT_RUNS=5000 FAULT_SEED=7 npm run conformance`. */
const RUNS = Number(process.env['FAULT_RUNS'] ?? 300)
const SEED = Number(process.env['FAULT_SEED'] ?? 2026)

verifiesAlone(
  ['OWN-01', 'OWN-02', 'OWN-06', 'OWN-07'],
  'whatever goes wrong in whatever order: every call settles, what was accepted arrives once and in order or is told ' +
    'lost, and the agent recovers and leaves nothing behind',
  async () => {
    await warmUp()
    await fc.assert(
      fc.asyncProperty(anyRun, run => new CampaignRun().play(run)),
      { numRuns: RUNS, seed: SEED },
    )
  },
)
