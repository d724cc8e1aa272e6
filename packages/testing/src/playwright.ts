export {
  type AuditedPage,
  type AuditedPageHost,
  auditPage,
  type PageAuditOptions,
  type PagePlan,
} from './page/audit-page.ts'
export { type ServedTestService, servedServiceFixtures, serveTestService } from './page/served-service.ts'
