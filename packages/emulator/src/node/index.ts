/**
 * The emulator on a port, its articles and stored state, and the fault proxy. For Node.
 *
 * @module
 */
export { type Article, parseArticle } from '../knowledge/article.ts'
export { createKnowledgeReply } from '../knowledge/knowledge-reply.ts'
export { type DevelopmentCertificate, loadDevelopmentCertificate } from './development-certificate.ts'
export { type FaultProxy, type FaultProxyOptions, startFaultProxy } from './fault-proxy.ts'
export { createFolderStore } from './folder-store.ts'
export { createHostCheck, type HostCheck } from './host-check.ts'
export { loadFaultSchedule } from './load-fault-schedule.ts'
export { loadKnowledge } from './load-knowledge.ts'
export { MissingPackageError } from './optional-package.ts'
export { type EmulatorServer, type ServeOptions, serveEmulator } from './serve.ts'
