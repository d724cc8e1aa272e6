import { createEmulator } from '@aiagent/emulator'
import { ManualClock, propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FakeBrowser } from '../../test/fake-browser.ts'
import { type HostStep, TabCampaign, type TabStep } from '../../test/tab-campaign.ts'

const KINDS = [
  'send',
  'send',
  'send',
  'send',
  'pass',
  'crash',
  'close',
  'reload',
  'freeze',
  'thaw',
  'open',
] as const satisfies readonly TabStep['kind'][]

/** With pages to which the browser loses messages. */
const kind = fc.constantFrom<TabStep['kind']>(...KINDS, 'deafen')
const hostKind = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<TabStep['kind']>(...KINDS) },
  fc.constantFrom<HostStep>('ask', 'ask', 'restart', 'logout'),
)

const stepOf = (kinds: fc.Arbitrary<TabStep['kind']>): fc.Arbitrary<TabStep> =>
  fc.record({
    kind: kinds,
    /** 0 stands for the leader. */
    tab: fc.integer({ min: 0, max: 5 }),
    waitMs: fc.constantFrom(0, 0, 1, 20, 300, 4_000),
  })

describe.each([
  ['receipts, resume and fencing', ['receipts', 'resume', 'fencing'] as const],
  ['the plain wire', [] as const],
])('tabs over %s', (_name, capabilities) => {
  const isExact = capabilities.length > 0
  const title = isExact ? 'lose and double nothing' : 'lose nothing silently, and double nothing'
  const play = async (steps: readonly TabStep[]) => {
    const clock = new ManualClock()
    const settings = { heartbeatBeforeReply: false, capabilities: [...capabilities] }
    const emulator = createEmulator({ clock, settings, reply: ({ text }) => ({ content: `You said: ${text}` }) })
    const campaign = new TabCampaign(new FakeBrowser(clock, emulator))
    await campaign.play(steps)
    expect(campaign.violations(isExact)).toEqual([])
  }
  const holds = (kinds: fc.Arbitrary<TabStep['kind']>) =>
    fc.assert(fc.asyncProperty(fc.array(stepOf(kinds), { maxLength: 30 }), play), { numRuns: propertyRuns(20) })

  it(`[REL-64] ${title}, whatever happens to the tabs`, () => holds(kind))

  it('[REL-67] lose nothing silently, double nothing, and end in one conversation, whatever the hosts do', () =>
    holds(hostKind))
})
