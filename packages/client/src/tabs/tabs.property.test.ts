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
const hostKind = fc.oneof({ weight: 3, arbitrary: kind }, fc.constantFrom<HostStep>('ask', 'ask', 'restart', 'logout'))
const userKind = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<TabStep['kind']>(...KINDS) },
  fc.constantFrom<HostStep>('user', 'user', 'ask', 'logout'),
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
  const play = async (steps: readonly TabStep[], isSignedIn: boolean) => {
    const clock = new ManualClock()
    const settings = { heartbeatBeforeReply: false, capabilities: [...capabilities] }
    const emulator = createEmulator({ clock, settings, reply: ({ text }) => ({ content: `You said: ${text}` }) })
    const campaign = new TabCampaign(new FakeBrowser(clock, emulator), isSignedIn)
    await campaign.play(steps)
    return campaign
  }
  const holds = (
    kinds: fc.Arbitrary<TabStep['kind']>,
    isSignedIn = false,
    violations = (campaign: TabCampaign) => campaign.violations(isExact),
  ) => {
    const check = async (steps: readonly TabStep[]) => {
      expect(violations(await play(steps, isSignedIn))).toEqual([])
    }
    return fc.assert(fc.asyncProperty(fc.array(stepOf(kinds), { maxLength: 30 }), check), {
      numRuns: propertyRuns(20),
    })
  }

  it(`[REL-64] ${title}, whatever happens to the tabs`, () => holds(kind))

  const at = (tab: number, kind: TabStep['kind'], waitMs = 0): TabStep => ({ kind, tab, waitMs })

  it.each<[string, TabStep[]]>([
    [
      'send a message once of which another tab repeats the queue late',
      [at(3, 'restart'), at(3, 'send'), at(0, 'open', 4_000), at(1, 'close')],
    ],
    [
      'show an answer once that was recovered from the transcript before it is repeated',
      [
        ...[at(0, 'crash', 20), at(0, 'open'), at(3, 'freeze'), at(0, 'send', 1)],
        ...[at(0, 'freeze'), at(2, 'send'), at(0, 'ask', 4_000)],
      ],
    ],
    [
      'report a message as unknown of a tab that ends when another one signs out',
      [at(3, 'send'), at(1, 'close'), at(0, 'logout')],
    ],
  ])('[REL-64] [REL-155] %s', async (_case, steps) => {
    expect((await play(steps, false)).violations(isExact)).toEqual([])
  })

  it('[REL-67] lose nothing silently, double nothing, and end in one conversation, whatever the hosts do', () =>
    holds(hostKind))

  it('[REL-151] give nothing of one user to the next one, and end with the same user in each tab', () =>
    holds(userKind, true))

  it('[REL-151] [REL-156] nor when the browser loses messages to pages that it has stopped', () =>
    holds(fc.oneof(userKind, fc.constant('deafen' as const)), true, campaign => campaign.mixedUsers()))
})
