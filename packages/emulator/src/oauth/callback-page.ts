/**
 * The page that a login and a logout return to, and that passes the answer on to whoever waits for it:
 *
 * - in a hidden frame, to the page around it
 * - with a way back in its state, by going there
 * - in a popup, to the page that opened it; and over a BroadcastChannel named after the state, which also works where an
 *   opener policy of the login's pages has cut the tie between the two
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
    if (answer.has('code') || answer.has('error'))
      for (const [name, value] of answer) target.searchParams.set(name, value)
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
