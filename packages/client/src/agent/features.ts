/*
 * The optional features of an agent, apart from the login: in a page each is a separate file, which loads when the feature is
 * first used. On Node they are there from the start: features.node.ts has the same members, and package.json chooses.
 */

/** Loads a feature by its name. */
export const features = {
  contactCenter: () => import('./portal-lifecycle.ts'),
  explain: () => import('./explain.ts'),
  masking: () => import('../masking/data-masker.ts'),
  persistQueue: () => import('../outbox/create-stored-queue.ts'),
  resume: () => import('../resume/session-resume.ts'),
  storedData: () => import('./clear-stored-data.ts'),
  tabs: () => import('../tabs/tab-group.ts'),
}
