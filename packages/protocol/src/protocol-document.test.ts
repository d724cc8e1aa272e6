import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import * as protocol from './index.ts'
import * as schemas from './schemas.ts'

const text = readFileSync(new URL('../PROTOCOL.md', import.meta.url), 'utf8')
const examples = [...text.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) => json)
const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
const anchor = (heading: string) => heading.toLowerCase().replaceAll(' ', '-')
const isFrame = (json: string) => v.is(v.looseObject({ persona: v.string() }), JSON.parse(json))

describe('PROTOCOL.md', () => {
  it('has examples of frames and of bodies', () => {
    expect(examples.filter(isFrame).length).toBeGreaterThan(12)
    expect(examples.filter(json => !isFrame(json)).length).toBeGreaterThan(12)
  })

  it.each(examples.filter(isFrame))('shows frames that read whole: %s', json => {
    expect(protocol.parseServerMessage(json)).toStrictEqual(JSON.parse(json))
    expect(protocol.parseClientMessage(json)).toStrictEqual(JSON.parse(json))
  })

  it('names every path', () => {
    const { paths } = protocol
    const all = [
      paths.deploymentInfo(),
      paths.agentDetails(':agentId'),
      paths.session(':agentId'),
      paths.portals(),
      paths.myPortals(),
      paths.portalDetails(':portalId'),
      paths.agentsByPortal(':departmentId', ':portalId'),
      paths.userProfiles(':portalId'),
      paths.selectUserProfile(':portalId', ':profileId'),
      paths.userDetails(),
      paths.customerDetails(),
      paths.maskingPatterns(':departmentId', ':channel'),
      paths.connectedApps(':tenantId', ':agentId'),
      paths.previousTranscript(':agentId', ':sessionId'),
      paths.metadataOfDeployment(),
      paths.metadataOfTenant(':tenantId'),
    ]
    expect(all).toHaveLength(Object.keys(paths).length)
    for (const path of all) expect(text).toContain(`}${path.replace(/:(\w+)/g, '{$1}')}\``)
  })

  it('names every role, persona, query parameter, close code and error code', () => {
    const {
      EXTENSION_ROLE,
      CAPABILITY,
      ROLE,
      PERSONA,
      CHAT_QUERY,
      QUERY,
      CLOSE_CODE,
      ERROR_CODES,
      SERVICE_ERROR_CODE,
    } = protocol
    const words = [
      EXTENSION_ROLE,
      CAPABILITY,
      ROLE,
      PERSONA,
      CHAT_QUERY,
      QUERY,
      ERROR_CODES,
      SERVICE_ERROR_CODE,
    ].flatMap(table => Object.values(table))
    for (const word of words) expect(text).toMatch(new RegExp(`[\`"]${word.replace('$', '\\$')}[\`"=]`))
    for (const code of Object.values(CLOSE_CODE)) expect(text).toContain(`| ${code} |`)
  })

  it('names every export of the package, and no schema that does not exist', () => {
    for (const name of [...Object.keys(protocol), ...Object.keys(schemas)]) expect(text).toContain(`\`${name}`)
    const named = [...text.matchAll(/`(\w+Schema)`/g)].map(([, name = '']) => name)
    for (const name of named) expect(schemas).toHaveProperty(name)
  })

  it('links only to its own headings', () => {
    for (const [, target = ''] of text.matchAll(/\]\(#([^)]*)\)/g)) expect(headings.map(anchor)).toContain(target)
  })
})
