import { propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  HOST_KINDS,
  type HostStep,
  LAST_TAB,
  MOST_STEPS,
  TAB_KINDS,
  TabCampaign,
  type TabStep,
  WAITS_MS,
} from '../../test/tab-campaign.ts'

/** With pages to which the browser loses messages. */
const kind = fc.constantFrom<TabStep['kind']>(...TAB_KINDS, 'deafen')
const hostKind = fc.oneof({ weight: 3, arbitrary: kind }, fc.constantFrom(...HOST_KINDS))
const userKind = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<TabStep['kind']>(...TAB_KINDS) },
  fc.constantFrom<HostStep>('user', 'user', 'ask', 'logout'),
)

const stepOf = (kinds: fc.Arbitrary<TabStep['kind']>): fc.Arbitrary<TabStep> =>
  fc.record({
    kind: kinds,
    tab: fc.integer({ min: 0, max: LAST_TAB }),
    waitMs: fc.constantFrom(...WAITS_MS),
  })

describe.each([
  ['receipts, resume and fencing', ['receipts', 'resume', 'fencing'] as const],
  ['the plain wire', [] as const],
])('tabs over %s', (_name, capabilities) => {
  const isExact = capabilities.length > 0
  const title = isExact ? 'lose and double nothing' : 'lose nothing silently, and double nothing'
  const holds = (
    kinds: fc.Arbitrary<TabStep['kind']>,
    isSignedIn = false,
    violations = (campaign: TabCampaign) => campaign.violations(isExact),
  ) => {
    const check = async (steps: readonly TabStep[]) => {
      expect(violations(await TabCampaign.play(steps, capabilities, isSignedIn))).toEqual([])
    }
    return fc.assert(fc.asyncProperty(fc.array(stepOf(kinds), { maxLength: MOST_STEPS }), check), {
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
      'send the first message of a tab that is reloaded right after it',
      [at(0, 'close'), at(1, 'send'), at(1, 'reload')],
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
    [
      'report a message as unknown of a tab that ends right before the only tab that it could reach signs out',
      [at(3, 'send'), at(1, 'close'), at(4, 'reload'), at(0, 'logout')],
    ],
    [
      'show an answer once that was said before a tab was opened, which misses the next one',
      [at(4, 'ask'), at(0, 'open', 1), at(3, 'deafen'), at(5, 'send', 20)],
    ],
    [
      'keep a message acknowledged of which another tab knew less',
      [at(5, 'freeze'), at(0, 'send', 300), at(0, 'reload', 300), at(5, 'ask', 4_000)],
    ],
    [
      'show a message in a page that was stopped when the tab that sent it is loaded again',
      [at(5, 'deafen'), at(0, 'send'), at(0, 'reload'), at(1, 'pass', 4_000)],
    ],
    [
      'show a message in a page that was stopped when the last other tab is closed in that moment',
      [at(0, 'deafen'), at(1, 'send'), at(1, 'crash', 4_000), at(1, 'thaw'), at(0, 'close')],
    ],
    [
      'send a message once that another tab has sent while the page was stopped that leads now',
      [
        ...[at(0, 'freeze', 300), at(3, 'restart'), at(1, 'send', 4_000), at(3, 'open', 300)],
        ...[at(3, 'deafen', 300), at(0, 'crash', 4_000), at(2, 'open', 4_000), at(0, 'crash')],
      ],
    ],
    [
      'agree about a message that a page has missed of a tab that is loaded again',
      [at(3, 'send', 300), at(4, 'deafen'), at(3, 'reload', 4_000)],
    ],
    [
      'agree about a message of a tab that is loaded again while the former leader settles it',
      [
        ...[at(1, 'close'), at(2, 'open', 1), at(0, 'deafen'), at(4, 'ask')],
        ...[at(2, 'pass', 4_000), at(4, 'send', 300), at(2, 'reload')],
      ],
    ],
    [
      'agree about a message of which a tab that was stopped tells a new one before it knows the outcome',
      [at(1, 'send', 300), at(0, 'freeze'), at(2, 'deafen', 4_000), at(0, 'open')],
    ],
    [
      'report no message as unknown that the next leader sends while the former one runs again',
      [at(0, 'freeze'), at(3, 'send'), at(3, 'crash', 4_000)],
    ],
    [
      'agree about a message whose outcome the only other tab learned while a new one was stopped that had said nothing yet',
      [at(1, 'send'), at(1, 'crash'), at(1, 'reload'), at(1, 'freeze'), at(0, 'send', 4_000)],
    ],
    [
      'send a message again only in the session in which it was sent',
      [
        ...[at(3, 'open'), at(4, 'send'), at(2, 'restart'), at(5, 'reload', 20)],
        ...[at(3, 'deafen'), at(2, 'close', 4_000)],
      ],
    ],
    [
      'report a message as unknown once that a tab sends before it notices a sign-out',
      [at(0, 'logout'), at(0, 'send'), at(0, 'send')],
    ],
  ])('[REL-64] [REL-155] %s', async (_case, steps) => {
    expect((await TabCampaign.play(steps, capabilities)).violations(isExact)).toEqual([])
  })

  it('[REL-67] [SEC-60] lose nothing silently, double nothing, keep no token after a sign-out, and end in one conversation, whatever the hosts do', () =>
    holds(hostKind))

  it('[REL-151] give nothing of one user to the next one, and end with the same user in each tab', () =>
    holds(userKind, true))

  it('[REL-151] [REL-156] nor when the browser loses messages to pages that it has stopped', () =>
    holds(fc.oneof(userKind, fc.constant('deafen' as const)), true, campaign => campaign.mixedUsers()))
})
