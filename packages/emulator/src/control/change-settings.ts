import { CAPABILITY } from '@aiagent/protocol'
import * as v from 'valibot'
import type { EmulatorSettings } from '../settings.ts'

const flag = v.boolean()
const amount = v.pipe(v.number(), v.finite(), v.minValue(0))

const entries = {
  capabilities: v.array(v.picklist(Object.values(CAPABILITY))),
  resumeBufferLimit: amount,
  seenIdLimit: amount,
  sendHistory: flag,
  postSession: flag,
  strictAuthHeader: flag,
  checkScopes: flag,
  endSessionOnGracefulDisconnect: flag,
  unknownSession: v.picklist(['refuse', 'close-4404']),
  rateLimit: flag,
  tokenLifeSeconds: amount,
  endSessionEndpoint: flag,
  logoutClaim: flag,
  silentRenewal: v.picklist(['works', 'by-session-only', 'interaction-required', 'fails']),
  loginOpenerPolicy: v.string(),
  withoutSignIn: v.array(v.string()),
  answerDelayMs: amount,
  answerJitterMs: amount,
  portalPageSize: amount,
  emptyListStatus: v.picklist([200, 204]),
  replyDelayMs: amount,
  heartbeatBeforeReply: flag,
  desk: v.picklist(['open', 'closed']),
  heartbeatIntervalMs: amount,
  idleTimeoutMs: amount,
  unreadableFrameLimit: amount,
  contextValueLimit: amount,
  historyLimit: amount,
  recordingLimit: amount,
} satisfies { [Name in keyof EmulatorSettings]: v.GenericSchema<EmulatorSettings[Name]> }

const ChangeSchema = v.partial(v.strictObject(entries))

/** An invalid change of the settings. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/**
 * Changes the given settings; if one is invalid, none of them.
 *
 * @throws {SettingsError} for an unknown setting, or an invalid value
 */
export function changeSettings(settings: EmulatorSettings, change: unknown): void {
  const read = v.safeParse(ChangeSchema, change)
  if (read.success) return void Object.assign(settings, read.output)
  const [issue] = read.issues
  const name = v.getDotPath(issue) ?? ''
  if (!Object.hasOwn(entries, name.split('.', 1)[0] ?? ''))
    throw new SettingsError(`There is no setting "${name}". The settings are: ${Object.keys(entries).join(', ')}.`)
  throw new SettingsError(`The setting "${name}" does not take ${issue.received}. Expected is ${issue.expected}.`)
}
