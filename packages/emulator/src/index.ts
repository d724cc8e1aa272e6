export {
  EmulatedSocket,
  type EmulatedSocketClass,
  type SocketCloseEvent,
  type SocketEvent,
  type SocketEventMap,
  type SocketMessageEvent,
} from './chat/emulated-socket.ts'
export type { Answer, Reply, ReplyRequest } from './chat/reply.ts'
export type { ChatConnection, Refusal, SocketConnection, SocketEnd, Upgrade } from './chat/socket-end.ts'
export type { Clock } from './clock.ts'
export { CONNECTOR_PATH, CONNECTOR_SCRIPT } from './connector/connector-script.ts'
export type { ConnectedApp, DepartmentSeed, PortalSeed, ProfileSeed } from './contact-center/contact-center-seed.ts'
export type { LastUsedProfiles } from './contact-center/last-used-profiles.ts'
export type { ConversationRecord, EmulatorControl } from './control/control.ts'
export type { Desk } from './desk/desk.ts'
export type { DeskChat, DeskChatRecord, DeskMessage } from './desk/desk-chat.ts'
export type { DeskContext } from './desk/desk-context.ts'
export { createEmulator, type Emulator, type EmulatorOptions, type PortRequest } from './emulator.ts'
export { type Fault, FaultError, parseFault, type StandingFault, type StandingKind } from './faults/fault.ts'
export type { FaultInForce } from './faults/fault-rules.ts'
export { type FaultSchedule, parseFaultSchedule, type ScheduledFault } from './faults/fault-schedule.ts'
export type { AppliedFault, EmulatorFaults, FaultSelection } from './faults/faults.ts'
export { WEATHERS, type Weather, type WeatherName } from './faults/weather.ts'
export { type Article, parseArticle, type Section } from './knowledge/article.ts'
export { createKnowledgeReply } from './knowledge/knowledge-reply.ts'
export type { PortListener } from './lifecycle/restart.ts'
export type { TokenVerifier, VerifiedToken } from './oauth/keys.ts'
export { AUTH_REDIRECT_PATH } from './oauth/login-addresses.ts'
export { tokenPaths } from './oauth/metadata.ts'
export { answerPageLogin, type PageLoginRequest, readPageLogin } from './oauth/page-login.ts'
export type { PkceConfig, PkceConfigOptions } from './oauth/pkce-config.ts'
export { DEFAULT_SETTINGS, type EmulatorSettings } from './settings.ts'
export { createMemoryStore, type StateStore } from './state/state-store.ts'
export { DEFAULT_WORLD } from './world/default-world.ts'
export type { RecentIds } from './world/recent-ids.ts'
export type { RecordedRequest } from './world/recording.ts'
export type { ResumeBuffer } from './world/resume-buffer.ts'
export type {
  AgentSeed,
  ClientSeed,
  ContextAttributeSeed,
  TenantSeed,
  UserSeed,
  WorldSeed,
} from './world/seed.ts'
export type { SessionChange } from './world/session-change.ts'
export type { AcceptedFrame, HistoryEntry, RecordedFrame, SessionRecord, SessionStart } from './world/session-record.ts'
export type { World } from './world/world.ts'
