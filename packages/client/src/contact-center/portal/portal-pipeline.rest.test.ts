import { describe, expect, it } from 'vitest'
import { failure, setUpApi } from '../../../test/api-set-up.ts'
import type { SeenRequest } from '../../../test/fake-service.ts'
import { FLOW_B, type RunInput, setUpPortals } from '../../../test/portal-harness.ts'

const MANAGER = '/knowledge/portalmgr/v3'

/** The pipeline with the real ApiHelper and a fake service. */
function setUp() {
  const { service, api } = setUpApi({ shortUrlTemplate: 'shop', language: 'de-DE' })
  service
    .on(`GET ${MANAGER}/myportals`, { portal: [{ id: 1 }, { id: 2 }] })
    .on(`GET ${MANAGER}/internal/portals/1`, { portal: [{ name: 'Support' }] })
    .on(`GET ${MANAGER}/portals/1/userprofiles`, { profile: [{ id: 10, name: 'Member' }] })
    .on(`PUT ${MANAGER}/portals/1/userprofiles/10/select`, () => new Response(null, { status: 204 }))
  const harness = setUpPortals()
  const input = (more: Partial<RunInput> = {}) => harness.input({ api, context: { vendor_portal_id: '1' }, ...more })
  return { ...harness, service, input }
}

const brief = ({ method, path }: SeenRequest) => `${method} ${path.slice(MANAGER.length)}`

describe('the pipeline over REST', () => {
  it('[INIT-04] [REST-04] makes these calls and no other, each with the template', async () => {
    const { pipeline, input, service, names } = setUp()
    await pipeline.start(input())
    expect(service.seen.map(brief)).toEqual([
      'GET /myportals',
      'GET /internal/portals/1',
      'GET /portals/1/userprofiles',
      'PUT /portals/1/userprofiles/10/select',
    ])
    for (const { url } of service.seen) expect(new URL(url).searchParams.get('shortUrlTemplate')).toBe('shop')
    expect(names()).toEqual(['complete'])
  })

  it('[FLOW-14] [FLOW-15] invalidates the cached profile responses after a profile is selected', async () => {
    const { pipeline, input, service } = setUp()
    const asked = () => service.seen.filter(({ path }) => path.endsWith('/userprofiles')).length
    await pipeline.start(input())
    await pipeline.reset()
    await pipeline.start(input())
    expect(asked()).toBe(2)
    service.on(`PUT ${MANAGER}/portals/1/userprofiles/11/select`, () => new Response(null, { status: 500 }))
    await failure(pipeline.updateProfile({ id: 11 }))
    await pipeline.start(input())
    expect(asked()).toBe(3)
  })

  it.each([
    ['portals', 'NO_PORTALS', `${MANAGER}/myportals`, '{"portal":[{"id":9007199254740993}]}', /portal\[0\]\.id/],
    [
      'departments',
      'DEPARTMENT_ID_REQUIRED',
      `${MANAGER}/internal/portals/1`,
      '{"portal":[{"departmentId":9007199254740993}]}',
      /portal\[0\]\.departmentId/,
    ],
    [
      'agents',
      'NO_AGENTS_FOR_PORTAL',
      '/core/aiservices/v4/aiagent/details/department/9/portal/1',
      '[{"agentId":9007199254740993}]',
      /\[0\]\.agentId/,
    ],
  ])('[REL-248] says why none of the %s can be used', async (_kind, pipelineCode, path, body, field) => {
    const { pipeline, input, service } = setUp()
    service
      .on(`GET ${MANAGER}/myportals`, { portal: [{ id: 1, department: { id: 9 } }] })
      .on(`GET ${MANAGER}/internal/portals/1`, { portal: [{ departmentId: 9 }] })
      .on(`GET ${path}`, () => new Response(body))
    expect(await failure(pipeline.start(input(FLOW_B)))).toMatchObject({
      pipelineCode,
      message: expect.stringMatching(field),
    })
  })

  it('[FLOW-22] [REST-09] reports which call failed, and why', async () => {
    const { pipeline, input, service } = setUp()
    service.on(`GET ${MANAGER}/myportals`, () => Response.json({ message: 'try later' }, { status: 503 }))
    expect(await failure(pipeline.start(input()))).toMatchObject({
      pipelineCode: 'PORTAL_FETCH_FAILED',
      message: expect.stringMatching(/getMyPortals.*503.*try later/),
      cause: { name: 'ApiError', status: 503 },
    })
  })
})
