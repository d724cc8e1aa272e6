/**
 * The page that a login and a logout return to: tells the page that opened it where it landed, and closes itself.
 *
 * Its word goes to the opener, and over a BroadcastChannel named after the login's state, which also works where a
 * cross-origin opener policy of the login's pages has cut the tie to the opener.
 */
export const CALLBACK_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Signing in</title>
</head>
<body>
<p>This window may be closed.</p>
<script>
(() => {
  const url = location.href
  const { searchParams, hash } = new URL(url)
  const state = searchParams.get('state') ?? new URLSearchParams(hash.slice(1)).get('state')
  const message = { source: 'oidc-client', url, keepOpen: false }
  if (state) {
    const channel = new BroadcastChannel('oidc-client-popup-' + state)
    channel.postMessage(message)
    channel.close()
  }
  if (window.opener) window.opener.postMessage(message, location.origin)
  window.close()
})()
</script>
</body>
</html>
`
