import { type AiAgentConfig, ApiHelper, createContextMessage } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { rejection } from '../desk.ts'
import { Journal } from '../journal.ts'
import { openPlatform, watchedComponent } from '../platform.ts'
import { verifies } from '../verifies.ts'
import type { Service } from '../wire.ts'

const CARD = '4111 1111 1111 1111'
const MASKED_CARD = '***************1111'
/** Department of the agents that mask. */
const RULES = paths.maskingPatterns(1010, 'chat')

const rulesAsked = (service: Service) => service.requestsTo(RULES).length

/** Creates an anonymous agent of a department that masks, without initializing it. */
function billing(service: Service, config: Partial<AiAgentConfig> = {}) {
  const agent = service.newAgent({ id: 'billing', ...config })
  return { agent, journal: new Journal(agent) }
}

/** Makes the service report another release. */
async function claimVersion(service: Service, version: string | undefined): Promise<void> {
  const info = await service
    .patient(ApiHelper)
    .getDeploymentInfo(service.endpoint, { enabled: false }, { environment: service.environment() })
  const { version: _, ...rest } = info
  const body = version === undefined ? rest : { ...rest, version }
  service.faults.add({ kind: 'answer', route: 'GET /system/deploymentInfo', status: 200, body })
}

verifies('FLOW-19', 'a user message is masked before it is recorded, queued, emitted or sent', async service => {
  const { agent, journal } = billing(service)
  await agent.initialize()
  expect(rulesAsked(service)).toBe(1)
  await agent.connect()
  await agent.send(`My card is ${CARD}.`)
  await eventually(() => journal.answers.length)
  const masked = `My card is ${MASKED_CARD}.`
  expect(service.said()).toEqual([masked])
  expect(agent.getTranscript({ direction: 'sent' }).map(({ message }) => message.content)).toEqual([masked])
  expect(journal.of('transcriptUpdate')[0]?.message.content).toBe(masked)
  expect(JSON.stringify([agent.getTranscriptAsJSON(), service.printed])).not.toContain(CARD)
})

verifies('FLOW-19', 'messages sent before the rules are loaded are masked too', async service => {
  const { agent } = billing(service)
  await agent.send(`before ${CARD}`)
  const starting = agent.initialize()
  await agent.send(`meanwhile ${CARD}`)
  expect(agent.getTranscriptSize()).toBe(0)
  await service.through(starting)
  await agent.send(`queued ${CARD}`)
  await service.through(agent.connect())
  await service.until(() => service.said().length === 3)
  expect(service.said()).toEqual([`before ${MASKED_CARD}`, `meanwhile ${MASKED_CARD}`, `queued ${MASKED_CARD}`])
})

verifies('FLOW-19', 'other frames of the library and the host are not masked', async service => {
  const { agent } = billing(service)
  await agent.initialize()
  await agent.connect()
  await agent.send(createContextMessage({ context: { card: CARD } }))
  await agent.send({ persona: 'customer', role: 'human', content: 'see data', messageData: { card: CARD } })
  await service.until(() => service.frames().length === 2)
  expect(service.frames().map(({ messageData }) => messageData)).toEqual([{ context: { card: CARD } }, { card: CARD }])
})

verifies('FLOW-19', 'text can be masked and previewed without being sent', async service => {
  const { agent } = billing(service)
  const text = `${CARD} or +44 20 7946 0958`
  expect(agent.maskContent(text)).toBe(text)
  expect(agent.previewMasking(text)).toEqual({ isActive: false, content: text, spans: [] })
  await agent.initialize()
  expect(agent.maskContent(text)).toBe(`${MASKED_CARD} or +44***********58`)
  expect(agent.maskContent('')).toBe('')
  const { isActive, content, spans } = agent.previewMasking(text)
  expect([isActive, content]).toEqual([true, agent.maskContent(text)])
  expect(spans.map(({ rule, start, end }) => [rule, text.slice(start, end)])).toEqual([
    ['Payment card', CARD],
    ['Telephone number, international', '+44 20 7946 0958'],
  ])
})

for (const version of ['21.22.1', 'next', undefined])
  verifies('FLOW-19', `no patterns are requested from a deployment of version ${version}`, async service => {
    await claimVersion(service, version)
    const { agent } = billing(service)
    await agent.initialize()
    expect([rulesAsked(service), agent.maskContent(CARD)]).toEqual([0, CARD])
    await agent.connect()
    await agent.send(CARD)
    await service.until(() => service.said().length === 1)
    expect(service.said()).toEqual([CARD])
  })

for (const version of ['21.22.2', 'v21.22.10-rc.1', '22'])
  verifies('FLOW-19', `a deployment of version ${version} masks`, async service => {
    await claimVersion(service, version)
    const { agent } = billing(service)
    await agent.initialize()
    expect([rulesAsked(service), agent.maskContent(CARD)]).toEqual([1, MASKED_CARD])
  })

verifies('FLOW-19', 'no patterns are requested for an agent without masking', async service => {
  const agent = service.newAgent({ id: 'selfservice', initParams: { portalIds: '1001' } })
  await agent.initialize()
  expect(service.control.requests().some(({ path }) => path.includes('maskingpatterns'))).toBe(false)
})

verifies('FLOW-19', 'patterns that cannot be loaded log a warning, and messages are sent unmasked', async service => {
  service.faults.add({ kind: 'answer', route: `GET ${RULES}`, status: 500 })
  const { agent, journal } = billing(service)
  await agent.initialize()
  await agent.connect()
  await agent.send(CARD)
  await service.until(() => service.said().length === 1)
  expect([service.said(), journal.errorCodes]).toEqual([[CARD], []])
  expect(service.printed.join()).toMatch(/\[WARN\].*masking/i)
})

verifies('FLOW-19', 'with required masking no user message is sent unmasked', async service => {
  service.faults.add({ kind: 'answer', route: `GET ${RULES}`, status: 500 })
  const { agent, journal } = billing(service, { masking: { required: true } })
  const held = await agent.send(`held ${CARD}`)
  await agent.initialize()
  expect(journal.of('error').map(({ error }) => error)).toMatchObject([
    { code: 'MESSAGE_ERROR', reason: 'masking_unavailable', messageId: held },
  ])
  await agent.connect()
  expect(await rejection(agent.send('hello', { id: 'mine' }))).toMatchObject({
    reason: 'masking_unavailable',
    messageId: 'mine',
  })
  await agent.send(createContextMessage({ context: { plan: 'gold' } }))
  await service.until(() => service.frames().length === 1)
  expect([service.said(), agent.getTranscriptSize()]).toEqual([[], 1])
})

verifies(
  'FLOW-19',
  'rules that could not be loaded are requested again when the conversation restarts',
  async service => {
    service.faults.add({ kind: 'answer', route: `GET ${RULES}`, status: 503, times: 1 })
    const { agent } = billing(service, { masking: { required: true } })
    await agent.initialize()
    await agent.connect()
    expect(await rejection(agent.send(CARD))).toMatchObject({ reason: 'masking_unavailable' })
    await service.through(agent.restartConnection())
    await agent.send(CARD)
    await service.until(() => service.said().length === 1)
    expect([service.said(), rulesAsked(service)]).toEqual([[MASKED_CARD], 2])
  },
)

verifies('FLOW-19', 'an unusable pattern is reported, and the others apply', async service => {
  const patterns = [
    { name: 'Twice', order: 1, javascriptRegularExpression: '(\\d)\\1' },
    { name: 'Card', order: 2, javascriptRegularExpression: '\\b(?:\\d{4} ?){4}\\b', numOfCharsToUnmaskFromRight: 4 },
  ]
  service.faults.add({ kind: 'answer', route: `GET ${RULES}`, status: 200, body: { patterns } })
  const { agent, journal } = billing(service)
  await agent.initialize()
  expect(journal.of('maskingPatternsRefused')).toMatchObject([{ patterns: [{ name: 'Twice' }] }])
  expect(agent.maskContent(CARD)).toBe(MASKED_CARD)
  const strict = billing(service, { masking: { required: true } })
  await strict.agent.initialize()
  expect(await rejection(strict.agent.send('hello'))).toMatchObject({ reason: 'masking_unavailable' })
})

verifies(['OPS-03', 'FLOW-19'], 'initPlatform is called after the patterns are loaded', async service => {
  const asked: unknown[] = []
  const { component } = watchedComponent({
    initPlatform: () => void asked.push([agent.maskContent(CARD), service.requestsTo(paths.myPortals()).length]),
  })
  const config = { id: 'desk-billing' }
  const { agent } = openPlatform(service, { portalIds: '1001' }, { component, config })
  service.faults.add({ kind: 'hang-request', route: `GET ${RULES}` })
  const starting = agent.initialize()
  await service.until(() => service.requestsTo(paths.userDetails()).length === 1)
  expect(asked).toEqual([])
  service.faults.lift({})
  await service.through(starting)
  expect(asked).toEqual([[MASKED_CARD, 0]])
})

verifies(
  ['FLOW-19', 'FLOW-21'],
  'a restart requests the patterns again, and applies the earlier ones until then',
  async service => {
    const { agent } = openPlatform(
      service,
      { portalIds: '1001' },
      { config: { id: 'desk-billing', cache: { enabled: false } } },
    )
    await service.through(agent.initialize())
    service.faults.add({ kind: 'answer', route: `GET ${RULES}`, status: 500 })
    await service.through(agent.restartPortalInitializer())
    expect([rulesAsked(service), agent.maskContent(CARD)]).toEqual([2, MASKED_CARD])
  },
)

for (const [what, prepare, reason] of [
  [
    'the call fails',
    service => void service.faults.add({ kind: 'answer', route: `GET ${RULES}`, status: 500 }),
    'request_failed',
  ],
  [
    'the answer has another shape',
    service => void service.faults.add({ kind: 'answer', route: `GET ${RULES}`, status: 200, body: { patterns: {} } }),
    'invalid_answer',
  ],
  ['the deployment is too old', service => claimVersion(service, '21.22.1'), 'unsupported_deployment'],
] as [string, (service: Service) => void | Promise<void>, string][])
  for (const required of [false, true])
    verifies(
      'SEC-30',
      `an event reports that there are no rules when ${what}${required ? ', with required masking' : ''}`,
      async service => {
        await prepare(service)
        const { agent, journal } = billing(service, { masking: { required } })
        await agent.initialize()
        expect(journal.of('maskingUnavailable').map(payload => payload.reason)).toEqual([reason])
      },
    )

verifies('SEC-30', 'an event reports that required masking is off because of a refused pattern', async service => {
  const body = { patterns: [{ name: 'Twice', javascriptRegularExpression: '(a)\\1' }] }
  service.faults.add({ kind: 'answer', route: `GET ${RULES}`, status: 200, body })
  const { agent, journal } = billing(service, { masking: { required: true } })
  await agent.initialize()
  expect(journal.of('maskingUnavailable')).toEqual([{ reason: 'patterns_refused' }])
})

for (const required of [false, true]) {
  verifies('SEC-30', `an event reports that every pattern is refused (required: ${required})`, async service => {
    const body = { patterns: [{ name: 'Twice', javascriptRegularExpression: '(a)\\1' }, null] }
    service.faults.add({ kind: 'answer', route: `GET ${RULES}`, status: 200, body })
    const { agent, journal } = billing(service, { masking: { required } })
    await agent.initialize()
    expect(journal.of('maskingUnavailable')).toEqual([{ reason: 'patterns_refused' }])
  })

  verifies(
    'SEC-30',
    `an empty list is reported only where masking is required (required: ${required})`,
    async service => {
      service.faults.add({ kind: 'answer', route: `GET ${RULES}`, status: 200, body: { patterns: [] } })
      const { agent, journal } = billing(service, { masking: { required } })
      await agent.initialize()
      expect(journal.of('maskingUnavailable')).toEqual(required ? [{ reason: 'no_patterns' }] : [])
    },
  )
}

for (const rule of [null, 7, 'text', true, []])
  verifies(
    'SEC-14',
    `a rule ${JSON.stringify(rule)} is reported, and blocks messages with required masking`,
    async service => {
      const body = { patterns: [rule, { name: 'Secret', javascriptRegularExpression: 'secret' }] }
      service.faults.add({ kind: 'answer', route: `GET ${RULES}`, status: 200, body })
      const lenient = billing(service)
      await lenient.agent.initialize()
      expect(lenient.journal.of('maskingPatternsRefused')).toEqual([
        { patterns: [{ name: 'pattern 1', reason: expect.any(String) }] },
      ])
      expect(lenient.agent.previewMasking('a secret').content).toBe('a ******')
      const strict = billing(service, { masking: { required: true } })
      await strict.agent.initialize()
      expect(strict.journal.of('maskingUnavailable')).toEqual([{ reason: 'patterns_refused' }])
      await expect(strict.agent.send('a secret')).rejects.toMatchObject({ name: 'MessageError' })
    },
  )

verifies('SEC-30', 'no event reports missing rules where none are wanted or all are active', async service => {
  const { journal, agent } = billing(service)
  await agent.initialize()
  const help = service.newAgent({ id: 'help' })
  const other = new Journal(help)
  await help.initialize()
  expect([...journal.of('maskingUnavailable'), ...other.of('maskingUnavailable')]).toEqual([])
})
