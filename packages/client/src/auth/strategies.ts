/*
 * The strategies for tokens of the host and of a program, which an anonymous page never runs: in a page they are a separate file.
 * On Node they are there from the start: strategies.node.ts has the same members, and package.json chooses.
 */

type TokenStrategies = typeof import('./token-strategies.ts')

/** Loads the strategies. */
export const strategies: { readonly loaded?: TokenStrategies; readonly load: () => Promise<TokenStrategies> } = {
  load: () => import('./token-strategies.ts'),
}
