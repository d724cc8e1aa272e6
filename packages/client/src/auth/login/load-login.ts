import { PKCEAuthStrategy } from './pkce-strategy.ts'

/** The code of a login. The build for script tags has it in a second file, which this function loads. */
export async function loadLogin(): Promise<{ readonly PKCEAuthStrategy: typeof PKCEAuthStrategy }> {
  return { PKCEAuthStrategy }
}
