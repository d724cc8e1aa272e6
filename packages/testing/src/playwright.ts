/**
 * Fixtures for Playwright: an emulated service on a port, and the audit of privacy for a page.
 *
 * @module
 */
export {
  type AuditedPage,
  type AuditedPageHost,
  auditPage,
  type PageAuditOptions,
  type PagePlan,
} from './page/audit-page.ts'
export { type ServedTestService, servedServiceFixtures, serveTestService } from './page/served-service.ts'
