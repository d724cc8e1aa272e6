import type { strategies as inPages } from './strategies.ts'
import * as strategiesOfTokens from './token-strategies.ts'

/** As in strategies.ts. Read late: when built, this file and that of the strategies import each other. */
export const strategies: typeof inPages = {
  get loaded() {
    return strategiesOfTokens
  },
  load: async () => strategiesOfTokens,
}
