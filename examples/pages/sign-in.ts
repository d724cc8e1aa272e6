// Signing users in, as a page does it. Compiled with the other examples; it runs only in a browser.
import { AiAgent, AuthError, type AuthStrategy, type AuthStrategyInitializeOptions, preloadPkce } from '@aiagent/client'
import { type MsalApplication, MsalAuthStrategy } from '@aiagent/client/msal'
import { CALLBACK_PAGE } from '@aiagent/client/pkce'

const endpoint = 'https://agents.example.com'
declare const button: HTMLButtonElement
declare const application: MsalApplication
declare const library: {
  signIn(): Promise<void>
  accessToken(): Promise<string | null>
  signOut(): Promise<void>
}

// #region deployment
const desk = new AiAgent({ id: 'desk', endpoint, authScheme: 'popup' })
await preloadPkce()
button.addEventListener('click', () => void desk.initialize())
// #endregion

// #region pkce
const config = {
  clientId: 'my-application',
  authorizationUrl: 'https://login.example.com/tenant/v2.0',
  knownAuthorities: ['login.example.com'],
  redirectUri: `${location.origin}/signed-in.html`,
  scopes: ['openid', 'profile', 'offline_access', 'api://agents/core.aiservices.read'],
  authScheme: 'redirect',
} as const
const account = new AiAgent({ id: 'account', endpoint, auth: { type: 'pkce', config } })
await account.initialize() // leaves the page if no user is signed in; the returning page calls it again
// #endregion

// #region failures
button.addEventListener('click', async () => {
  try {
    await desk.initialize()
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    if (error.reason === 'popup_closed') return
    button.textContent = error.reason === 'popup_blocked' ? 'Allow popups, then sign in' : 'Try again'
  }
})
// #endregion

// #region callback
export const fetchHandler = (request: Request): Response | undefined =>
  new URL(request.url).pathname === '/signed-in.html'
    ? new Response(CALLBACK_PAGE, { headers: { 'content-type': 'text/html; charset=utf-8' } })
    : undefined
// #endregion

// #region msal
export const withMsal = new AiAgent({ id: 'account', endpoint, auth: new MsalAuthStrategy(application, config) })
// #endregion

// #region own-library
class OwnLogin implements AuthStrategy {
  #signedIn: AuthStrategyInitializeOptions['postAuthentication']

  initialize({ postAuthentication }: AuthStrategyInitializeOptions) {
    this.#signedIn = postAuthentication
  }
  async authenticate() {
    await library.signIn()
    await this.#signedIn?.()
  }
  getToken = () => library.accessToken()
  logout = () => library.signOut()
}
export const withOwn = new AiAgent({ id: 'account', endpoint, auth: new OwnLogin() })
// #endregion

// #region logout
button.addEventListener('click', () => void account.logout())
// #endregion
