import { MsalAuthStrategy } from '@aiagent/client/msal'
import { PublicClientApplication } from '@azure/msal-browser'
import { startLoginPage } from './login-host.ts'
import { POPUP_TIMEOUT_MS } from './popup-timeout.ts'

/** A page whose host runs an application of `@azure/msal-browser` and hands it over. */
export function startMsalPage(): void {
  startLoginPage(({ config }) => {
    const { host } = new URL(config.authorizationUrl ?? '')
    return new MsalAuthStrategy(
      new PublicClientApplication({
        auth: {
          clientId: config.clientId,
          authority: config.authorizationUrl ?? '',
          knownAuthorities: [host],
          redirectUri: config.redirectUri,
          OIDCOptions: { responseMode: 'fragment', defaultScopes: ['openid', 'profile', 'offline_access'] },
        },
        system: { protocolMode: 'OIDC', popupBridgeTimeout: POPUP_TIMEOUT_MS },
      }),
      config,
    )
  })
}
