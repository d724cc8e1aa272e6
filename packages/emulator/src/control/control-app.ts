import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { Desk } from '../desk/desk.ts'
import type { DeskChat } from '../desk/desk-chat.ts'
import { type Fault, FaultError, parseFault, type StandingKind } from '../faults/fault.ts'
import type { AppliedFault, EmulatorFaults } from '../faults/faults.ts'
import type { PendingWaits } from '../faults/pending-waits.ts'
import { cors } from '../rest/cors.ts'
import { RestError } from '../rest/error.ts'
import { readBody } from '../rest/request-body.ts'
import type { EmulatorSettings } from '../settings.ts'
import type { World } from '../world/world.ts'
import { changeSettings, SettingsError } from './change-settings.ts'
import type { EmulatorControl } from './control.ts'

export interface ControlAppParts {
  control: EmulatorControl
  desk: Desk
  faults: EmulatorFaults
  waits: PendingWaits
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
export function createControlApp({ control, desk, faults, isConnected, settings, waits, world }: ControlAppParts): {
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

  // Answered once the state differs from the one that the desk page has seen.
  app.get('/desk', async c => {
    while (stateOf(desk.chats) === c.req.query('seen'))
      if ((await waits.untilCalled(desk.listeners, c.req.raw.signal)) === 'gone')
        return refuse(c, 503, 'The service has stopped.')
    const chats = desk.chats.map(({ id, startedAt, state, name, isTyping, conversation, messages }) => {
      return { id, startedAt, state, name, isTyping, conversation, messages }
    })
    return c.json({ state: stateOf(desk.chats), chats })
  })
  for (const [name, act] of Object.entries(DESK_ACTIONS))
    app.post(`/desk/:id/${name}`, async c => {
      const read = v.safeParse(DeskActionSchema, await readObject(c))
      if (!read.success) return refuse(c, 400, 'The fields are "name", "text" and "isTyping".')
      const chat = desk.chats.find(({ id }) => id === c.req.param('id'))
      if (!chat) return refuse(c, 404, 'There is no such chat.')
      if (chat.state === 'ended') return refuse(c, 410, 'The chat has ended.')
      if (read.output.name) chat.join(read.output.name)
      act(chat, read.output)
      return c.json({})
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

const DeskActionSchema = v.strictObject({
  name: v.optional(v.string()),
  text: v.optional(v.string(), ''),
  isTyping: v.optional(v.boolean(), false),
})

/** What a colleague does in a chat. */
const DESK_ACTIONS: Readonly<Record<string, (chat: DeskChat, fields: v.InferOutput<typeof DeskActionSchema>) => void>> =
  {
    join: chat => chat.join(),
    say: (chat, { text }) => chat.say(text),
    typing: (chat, { isTyping }) => chat.setTyping(isTyping),
    leave: chat => chat.end(),
  }

/** Changes with everything that the desk page shows. */
const stateOf = (chats: readonly DeskChat[]) =>
  chats.map(({ id, state, name, isTyping, messages }) => [id, state, name, isTyping, messages.length].join()).join(';')

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

function refuse(c: Context, status: 400 | 403 | 404 | 410 | 500 | 503, message: string): Response {
  return c.json({ code: `${status}-000`, message }, status)
}
