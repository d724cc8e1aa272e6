import { loadMasker } from '../masking/load-masker.ts'
import { SessionResume } from '../resume/session-resume.ts'
import { createStoredQueue, sweepQueues } from '../resume/stored-queue.ts'
import { clearStored } from '../storage/clear-stored.ts'
import { explain } from './explain.ts'
import type { features as inPages } from './features.ts'
import { PortalLifecycle } from './portal-lifecycle.ts'

/**
 * As in features.ts: on Node a file is read faster than a second round of imports is resolved, and a service worker, with the
 * condition `worker`, must not import anything later.
 */
export const features: typeof inPages = {
  contactCenter: async () => PortalLifecycle,
  explain: async () => explain,
  masking: async () => loadMasker,
  persistQueue: async () => ({ createStoredQueue, sweepQueues }),
  resume: async () => SessionResume,
  storedData: async () => clearStored,
  // Only a page has tabs.
  tabs: async () => (await import('../tabs/tab-group.ts')).createTabGroup,
}
