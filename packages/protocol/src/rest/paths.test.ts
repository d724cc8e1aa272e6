import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { paths } from './paths.ts'

describe('paths', () => {
  it('are those of the service', () => {
    expect({
      deploymentInfo: paths.deploymentInfo(),
      agentDetails: paths.agentDetails('A1'),
      session: paths.session('A1'),
      portals: paths.portals(),
      myPortals: paths.myPortals(),
      portalDetails: paths.portalDetails(1001),
      agentsByPortal: paths.agentsByPortal(999, 1001),
      userProfiles: paths.userProfiles(1001),
      selectUserProfile: paths.selectUserProfile(1001, 10),
      userDetails: paths.userDetails(),
      customerDetails: paths.customerDetails(),
      maskingPatterns: paths.maskingPatterns(999, 'chat'),
      connectedApps: paths.connectedApps('T1', 'A1'),
      previousTranscript: paths.previousTranscript('A1', 'S1'),
      metadataOfDeployment: paths.metadataOfDeployment(),
      metadataOfTenant: paths.metadataOfTenant('T1'),
    }).toEqual({
      deploymentInfo: '/system/deploymentInfo',
      agentDetails: '/core/aiservices/v4/aiagent/details/agent/A1',
      session: '/core/aiservices/v4/aiagent/chat/agent/A1/session',
      portals: '/knowledge/portalmgr/v3/portals',
      myPortals: '/knowledge/portalmgr/v3/myportals',
      portalDetails: '/knowledge/portalmgr/v3/internal/portals/1001',
      agentsByPortal: '/core/aiservices/v4/aiagent/details/department/999/portal/1001',
      userProfiles: '/knowledge/portalmgr/v3/portals/1001/userprofiles',
      selectUserProfile: '/knowledge/portalmgr/v3/portals/1001/userprofiles/10/select',
      userDetails: '/knowledge/portalmgr/v3/portals/user',
      customerDetails: '/core/customermgr/v3/internal/customer',
      maskingPatterns: '/core/securitymgr/v4/departments/999/maskingpatterns/chat',
      connectedApps: '/ai-agent-cc-connector/v1/tenants/T1/agents/A1/apps',
      previousTranscript: '/core/aiservices/v4/aiagent/details/department/1000/agent/A1/conversations/sessions/S1',
      metadataOfDeployment: '/core/authmgr/v3/metadata/deployment',
      metadataOfTenant: '/core/authmgr/v3/metadata/tenant/T1',
    })
  })

  it('are route patterns when called with them', () => {
    expect(paths.session(':agentId')).toBe('/core/aiservices/v4/aiagent/chat/agent/:agentId/session')
    expect(paths.selectUserProfile(':portalId', ':profileId')).toBe(
      '/knowledge/portalmgr/v3/portals/:portalId/userprofiles/:profileId/select',
    )
    expect(paths.previousTranscript(':agentId', ':sessionId', ':departmentId')).toBe(
      '/core/aiservices/v4/aiagent/details/department/:departmentId/agent/:agentId/conversations/sessions/:sessionId',
    )
  })

  it.each([
    ['../x', '..%2Fx'],
    ['a/b?c', 'a%2Fb%3Fc'],
    ['a#b', 'a%23b'],
    ['50%', '50%25'],
    ['zwölf 12', 'zw%C3%B6lf%2012'],
    ['😀', '%F0%9F%98%80'],
    ['\ud800', '%EF%BF%BD'],
    [':x', ':x'],
    ['a:b', 'a:b'],
    ['.', '%252E'],
    ['..', '%252E%252E'],
    ['...', '...'],
  ])('keep the id %j in one segment', (id, segment) => {
    expect(paths.agentDetails(id)).toBe(`/core/aiservices/v4/aiagent/details/agent/${segment}`)
  })

  it('stay in their place whatever the ids are', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 1 }),
        fc.string({ unit: 'binary', minLength: 1 }),
        (portal, profile) => {
          const path = paths.selectUserProfile(portal, profile)
          const url = new URL(`https://api.example.test${path}`)
          expect(url.pathname).toBe(path)
          expect(url.search + url.hash).toBe('')
          expect(path.split('/')).toHaveLength(9)
        },
      ),
    )
  })

  it('give every well-formed id back to the service', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1 }).filter(id => id !== '.' && id !== '..'),
        id => {
          expect(decodeURIComponent(paths.agentDetails(id).split('/').at(-1) ?? '')).toBe(id)
        },
      ),
    )
  })
})
