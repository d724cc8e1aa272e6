/**
 * The page that logins and logouts return to. It passes the answer on:
 *
 * - in a hidden frame, to the parent page
 * - with an address in the state, by sessionStorage to the page there. The code stays out of the address of the
 *   application, unless the browser has no sessionStorage.
 * - in a popup, to the opener, and on a BroadcastChannel named after the state. The channel also works if an opener
 *   policy of the login pages separated the two.
 */
export const CALLBACK_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>Signing in</title>
</head>
<body>
<p>This window may be closed.</p>
<script>
(() => {
  const { href, origin, search, hash } = location
  const answer = new URLSearchParams(search.slice(1) + '&' + hash.slice(1))
  const state = answer.get('state') ?? ''
  const message = { source: 'oidc-client', url: href, keepOpen: false }
  if (parent !== window) return parent.postMessage(message, origin)

  const route = decodeURIComponent(state.slice(state.indexOf(';') + 1))
  if (URL.canParse(route) && new URL(route).origin === origin) {
    const target = new URL(route)
    if (answer.has('code') || answer.has('error')) {
      try {
        sessionStorage.setItem('aiagent_login_answer', href)
      } catch {
        for (const [name, value] of answer) target.searchParams.set(name, value)
      }
    }
    return location.replace(target)
  }

  if (opener) opener.postMessage(message, origin)
  const channel = new BroadcastChannel('oidc-client-popup-' + (state || 'logout'))
  channel.postMessage(message)
  channel.close()
  close()
})()
</script>
</body>
</html>
`
