import * as masking from '../masking/data-masker.ts'
import * as persistQueue from '../outbox/create-stored-queue.ts'
import * as resume from '../resume/session-resume.ts'
import * as storedData from './clear-stored-data.ts'
import * as explain from './explain.ts'
import type { features as inPages } from './features.ts'
import * as contactCenter from './portal-lifecycle.ts'

/** As in features.ts: on Node a file is read faster than a second round of imports is resolved. */
export const features: typeof inPages = {
  contactCenter: async () => contactCenter,
  explain: async () => explain,
  masking: async () => masking,
  persistQueue: async () => persistQueue,
  resume: async () => resume,
  storedData: async () => storedData,
  // Only a page has tabs.
  tabs: () => import('../tabs/tab-group.ts'),
}
