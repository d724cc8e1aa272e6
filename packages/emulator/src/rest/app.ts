import { paths, SCOPE } from '@aiagent/protocol'
import { type Context, type Handler, Hono } from 'hono'
import type { Clock } from '../clock.ts'
import type { Desk } from '../desk/desk.ts'
import { delayAnswers } from '../faults/answer-delay.ts'
import {
  applyFaults,
  applyPathFaults,
  type RequestConnection,
  type RequestEnv,
  type RequestFaults,
} from '../faults/apply-faults.ts'
import type { TokenKeys, VerifiedToken } from '../oauth/keys.ts'
import { AUTH_REDIRECT_PATH } from '../oauth/login-addresses.ts'
import { describeOAuth, tokenPaths } from '../oauth/metadata.ts'
import type { PageLogin } from '../oauth/page-login.ts'
import { grantAnonymous, grantToClient, OAuthError, readTokenForm } from '../oauth/token.ts'
import type { Random } from '../random.ts'
import type { EmulatorSettings } from '../settings.ts'
import type { World } from '../world/world.ts'
import { describeAgent } from './agents.ts'
import { Authorization, type TokenForm } from './authorization.ts'
import { addContactCenterRoutes } from './contact-center-routes.ts'
import { cors } from './cors.ts'
import { describeDeployment } from './deployment.ts'
import { addDeskRoutes } from './desk-routes.ts'
import { RestError } from './error.ts'
import { recordRequest } from './record-request.ts'
import { requestBody } from './request-body.ts'
import { param, type RouteTable, refuseMethod } from './route-table.ts'
import { createSession, readSessionContext, readTranscript } from './sessions.ts'

export interface RestParts {
  world: World
  clock: Clock
  random: Random
  settings: EmulatorSettings
  keys: TokenKeys
  origin: string
  /** Chat domain for all tenants; replaces each tenant's domain. */
  chatDomain?: string | undefined
  /** Whether users can sign in under this origin. */
  offersLogin: boolean
  /** Answers the requests of logins, where users sign in on a page of the host. */
  pageLogin?: PageLogin | undefined
  /** HTML of the callback page of logins. */
  callbackPage: string
  /** The active faults. */
  faults: RequestFaults
  /** The chats with colleagues. */
  desk: Desk
}

/** Answers a request; its transport may provide functions for faults. */
export interface RestApp {
  fetch(request: Request, carrier?: RequestConnection): Response | Promise<Response>
}

/**
 * The REST part of the service, as a function from Request to Response. Routes only: other modules create the
 * responses.
 */
export function createRestApp(parts: RestParts): RestApp {
  const { world, clock, settings, keys, origin, offersLogin, pageLogin, callbackPage, faults, desk } = parts
  const authorization = new Authorization(keys, settings, world)
  const app = new Hono<RequestEnv>()

  app.use(applyPathFaults(faults))
  app.use(recordRequest(world, clock))
  app.use(cors())
  // Rejects a body that was too large, on every route.
  app.use((c, next) => {
    requestBody(c)
    return next()
  })
  app.use(delayAnswers({ settings, random: faults.random, waits: faults.waits }))
  app.use(applyFaults(faults))

  if (pageLogin)
    app.use(async (c, next) => {
      const answer = await pageLogin.answer(c.req.raw, requestBody(c))
      return answer ?? next()
    })

  const at: RouteTable['at'] = (path, routes) => {
    for (const [method, handler] of Object.entries(routes)) app.on(method, path, handler)
    app.all(path, c => refuseMethod(c, Object.keys(routes)))
  }
  const tokenOf = (c: Context, scope: string = SCOPE.AI_SERVICES, form?: TokenForm): VerifiedToken => {
    const token = authorization.require(c.req.header('authorization'), scope, form)
    const agent = world.agents.get(c.req.param('agentId') ?? '')
    if (agent && token.tenantId !== world.tenantIdOfAgent(agent))
      throw new RestError(401, '004', 'The token was issued for another tenant.')
    return token
  }

  at(paths.deploymentInfo(), { GET: c => c.json(describeDeployment(world.tenant, parts)) })
  // Every tenant has a path below the origin as its endpoint; only the first also has the origin itself.
  at(`/:tenantIdentifier${paths.deploymentInfo()}`, {
    GET: c => {
      const identifier = param(c, 'tenantIdentifier')
      const tenant = world.tenants.find(one => one.identifier === identifier)
      if (!tenant) throw new RestError(404, '003', `There is no tenant "${identifier}" here.`)
      return c.json(describeDeployment(tenant, parts))
    },
  })

  at(paths.metadataOfDeployment(), { GET: c => c.json(describeOAuth(world.tenant, origin, offersLogin)) })
  at(paths.metadataOfTenant(':tenantId'), {
    GET: c => {
      const id = param(c, 'tenantId')
      const tenant = world.tenants.find(one => one.id === id)
      if (!tenant) throw new RestError(404, '003', `There is no tenant "${id}" here.`)
      return c.json(describeOAuth(tenant, origin, offersLogin))
    },
  })

  at(AUTH_REDIRECT_PATH, { GET: c => c.html(callbackPage) })

  const tokenRoute =
    (grant: typeof grantAnonymous): Handler =>
    c => {
      const { req } = c
      const form = readTokenForm(requestBody(c), req.header('content-type'), req.header('authorization'))
      c.header('Cache-Control', 'no-store')
      return c.json(grant(parts, param(c, 'tenantId'), form))
    }
  at(tokenPaths.anonymous(':tenantId'), { POST: tokenRoute(grantAnonymous) })
  at(tokenPaths.clientCredentials(':tenantId'), { POST: tokenRoute(grantToClient) })

  at(paths.agentDetails(':agentId'), {
    GET: c => {
      tokenOf(c)
      return c.json(describeAgent(world, settings, param(c, 'agentId'), origin))
    },
  })

  at(paths.session(':agentId'), {
    POST: c => {
      if (!settings.postSession) return refuseMethod(c, ['GET'])
      const token = tokenOf(c)
      return c.json(createSession(parts, param(c, 'agentId'), token, readSessionContext(requestBody(c))))
    },
    GET: c => c.json(createSession(parts, param(c, 'agentId'), tokenOf(c), {})),
  })

  // The path requires a department, and accepts any.
  at(paths.previousTranscript(':agentId', ':sessionId', ':departmentId'), {
    GET: c => {
      tokenOf(c)
      return c.json(readTranscript(world, param(c, 'agentId'), param(c, 'sessionId')))
    },
  })

  addContactCenterRoutes({ at, tokenOf }, parts)
  addDeskRoutes({ at }, { desk, settings, waits: faults.waits })

  app.notFound(c => {
    const message = `There is nothing at ${c.req.method} ${c.req.path}. Start with ${origin}${paths.deploymentInfo()}.`
    return c.json({ code: '404-000', message }, 404)
  })

  app.onError((error, c) => {
    if (error instanceof RestError) return c.json({ code: error.code, message: error.message }, error.status)
    if (error instanceof OAuthError)
      return c.json({ error: error.error, error_description: error.message }, error.status)
    return c.json({ code: '500-001', message: error.message }, 500)
  })

  return app
}
