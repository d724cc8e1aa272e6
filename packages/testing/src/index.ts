export type { Allowance } from './audit/allowances.ts'
export {
  type AuditedAgent,
  type AuditedHost,
  type AuditOptions,
  type AuditPlan,
  auditPrivacy,
} from './audit/audit-agent.ts'
export type { AuditServiceOptions } from './audit/audit-world.ts'
export type { CanaryKind, CanaryPlace } from './audit/canary.ts'
export type { CanaryForm } from './audit/find-canary.ts'
export type { RecordingSpan, RecordingStorage, RecordingTelemetry } from './audit/recorders.ts'
export { assertNoLeaks, formatReport, type Leak, type PrivacyReport } from './audit/report.ts'
export { type Fixture, serviceFixtures } from './service/fixtures.ts'
export { type NextEventOptions, nextEvent } from './service/next-event.ts'
export { createTestService, type LocalTestService, type TestService } from './service/test-service.ts'
