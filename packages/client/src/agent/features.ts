/*
 * The optional features of an agent, apart from those of `auth`: in a page each is a separate file, which loads when the feature is
 * first used. On Node they are there from the start: features.node.ts has the same members, and package.json chooses.
 */

/** Loads a feature by its name. */
export const features = {
  contactCenter: async () => (await import('./portal-lifecycle.ts')).PortalLifecycle,
  explain: async () => (await import('./explain.ts')).explain,
  masking: async () => (await import('../masking/load-masker.ts')).loadMasker,
  persistQueue: () => import('../resume/stored-queue.ts'),
  resume: async () => (await import('../resume/session-resume.ts')).SessionResume,
  storedData: async () => (await import('../storage/clear-stored.ts')).clearStored,
  tabs: async () => (await import('../tabs/tab-group.ts')).createTabGroup,
}
