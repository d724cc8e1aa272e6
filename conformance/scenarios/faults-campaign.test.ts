import { propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { anyRun, CampaignRun, warmUp } from '../fault-campaign.ts'
import { verifiesAlone } from '../verifies.ts'

verifiesAlone(
  ['OWN-01', 'OWN-02', 'OWN-06', 'OWN-07'],
  'for any sequence of faults, every call settles, accepted messages arrive once and in order or are reported as ' +
    'lost, and the agent recovers and leaves nothing behind',
  async () => {
    await warmUp()
    await fc.assert(
      fc.asyncProperty(anyRun, run => new CampaignRun().play(run)),
      { numRuns: propertyRuns(100) },
    )
  },
)
