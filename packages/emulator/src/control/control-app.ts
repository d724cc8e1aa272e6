import { type Context, Hono } from 'hono'
import { type Fault, FaultError, parseFault, type StandingKind } from '../faults/fault.ts'
import type { AppliedFault, EmulatorFaults } from '../faults/faults.ts'
import { cors } from '../rest/cors.ts'
import { RestError } from '../rest/error.ts'
import { readBody } from '../rest/request-body.ts'
import type { EmulatorSettings } from '../settings.ts'
import type { World } from '../world/world.ts'
import { changeSettings, SettingsError } from './change-settings.ts'
import type { EmulatorControl } from './control.ts'

export interface ControlAppParts {
  control: EmulatorControl
  faults: EmulatorFaults
  settings: EmulatorSettings
  world: World
  isConnected(sessionId: string): boolean
}

/** Path of the controls. */
export const CONTROL_PATH = '/_control'

/** Actions on a session, and their faults. */
const SESSION_ACTIONS = {
  drop: 'drop',
  end: 'end-session',
  forget: 'forget-session',
  push: 'push',
  replay: 'replay',
  say: 'say',
  silence: 'silence',
} as const satisfies Record<string, Fault['kind']>

/** The controls over HTTP: the same faults as in the API, and the recordings. Access is checked before. */
export function createControlApp({ control, faults, isConnected, settings, world }: ControlAppParts): {
  fetch(request: Request): Response | Promise<Response>
} {
  const app = new Hono().basePath(CONTROL_PATH)
  app.use(cors('GET, POST, PATCH, DELETE'))

  app.get('/faults', c => c.json({ faults: faults.inForce() }))
  app.post('/faults', async c => {
    const body = await readJson(c)
    // All are parsed before the first is applied: a list with an error has no effect.
    const given = (Array.isArray(body) ? body : [body]).map((fault: unknown) => parseFault(fault))
    return c.json({ applied: given.map(fault => apply(faults, fault)) })
  })
  app.delete('/faults', c => {
    const kind = c.req.query('kind')
    return c.json({ lifted: faults.lift(kind === undefined ? {} : { kind: kind as StandingKind }) })
  })
  app.delete('/faults/:id', c => {
    const lifted = faults.lift({ id: c.req.param('id') })
    return lifted > 0 ? c.json({ lifted }) : refuse(c, 404, 'There is no such fault in force.')
  })

  app.get('/settings', c => c.json(settings))
  app.patch('/settings', async c => {
    changeSettings(settings, await readObject(c))
    return c.json(settings)
  })

  app.get('/requests', c => c.json({ requests: control.requests() }))
  app.get('/sessions', c => {
    const sessions = [...world.sessions.values()].map(({ id, agent, createdAt, ended }) => ({
      id,
      agentId: agent.details.agentId,
      createdAt,
      ended,
      connected: isConnected(id),
    }))
    return c.json({ sessions })
  })
  app.get('/sessions/:id/frames', c => {
    const id = c.req.param('id')
    return world.records.has(id) ? c.json({ frames: control.frames(id) }) : refuse(c, 404, NO_SESSION)
  })
  app.get('/sessions/:id/record', c => {
    const record = control.record(c.req.param('id'))
    return record ? c.json(record) : refuse(c, 404, NO_SESSION)
  })

  for (const [name, kind] of Object.entries(SESSION_ACTIONS))
    app.post(`/sessions/:id/${name}`, async c => {
      const fault = parseFault({ ...(await readObject(c)), kind, sessionId: c.req.param('id') })
      return world.sessions.has(c.req.param('id')) ? c.json(apply(faults, fault)) : refuse(c, 404, NO_SESSION)
    })
  app.post('/tokens', async c => {
    const { subject, ...more } = (await readObject(c)) as { subject?: unknown }
    const [unknown] = Object.keys(more)
    if (unknown !== undefined)
      return refuse(
        c,
        400,
        `Unknown field "${unknown}". The field is subject; the setting tokenLifeSeconds holds for all tokens.`,
      )
    if (typeof subject !== 'string' || !world.users.has(subject))
      return refuse(c, 400, `There is no such user. The users are: ${[...world.users.keys()].join(', ')}.`)
    return c.json({ token: control.issueToken({ subject }) })
  })
  app.post('/tokens/expire', async c =>
    c.json(apply(faults, parseFault({ ...(await readObject(c)), kind: 'expire-tokens' }))),
  )
  app.post('/restart', async c => {
    const fault = parseFault({ ...(await readObject(c)), kind: 'restart' })
    c.header('Connection', 'close')
    return c.json(apply(faults, fault))
  })

  app.notFound(c => refuse(c, 404, `There is no control ${c.req.method} ${c.req.path}.`))
  app.onError((error, c) => {
    if (error instanceof RestError) return c.json({ code: error.code, message: error.message }, error.status)
    if (error instanceof FaultError || error instanceof BodyError || error instanceof SettingsError)
      return refuse(c, 400, error.message)
    return refuse(c, 500, error.message)
  })
  return app
}

const NO_SESSION = 'There is no such session.'

class BodyError extends Error {}

function apply(faults: EmulatorFaults, fault: Fault): AppliedFault & { kind: string } {
  return { kind: fault.kind, ...faults.add(fault) }
}

async function readJson(c: Context): Promise<unknown> {
  const body = await readBody(c.req.raw)
  try {
    return body.trim() === '' ? {} : (JSON.parse(body) as unknown)
  } catch {
    throw new BodyError('The body is not JSON.')
  }
}

async function readObject(c: Context): Promise<object> {
  const body = await readJson(c)
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new BodyError('The body is not a JSON object.')
}

function refuse(c: Context, status: 400 | 403 | 404 | 500, message: string): Response {
  return c.json({ code: `${status}-000`, message }, status)
}
