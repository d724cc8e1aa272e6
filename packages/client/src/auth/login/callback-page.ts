/*
 * The page that receives the identity provider's answers. It needs no library: it passes its own address on to the page
 * that waits for it.
 *
 * - in a hidden frame, to the parent page
 * - after a redirect that this tab began, to the next page of this tab, through sessionStorage: the application's
 *   address never contains a code. A return address that this tab does not expect is not followed.
 * - in a popup, to its opener; if the provider's opener policy separated the two, through a channel named after the
 *   state
 */

/** Key in sessionStorage for the answer of a redirect, until the application reads it. */
export const REDIRECT_ANSWER_KEY = 'aiagent_login_answer'
/** Key in sessionStorage of the `state` with which a tab that left for the provider expects to return. */
export const RETURN_KEY = 'aiagent_login_return'
/** The `source` of the page's messages. */
export const MESSAGE_SOURCE = 'oidc-client'
/** Start of the channel's name; followed by the state, or by `logout` for a logout without one. */
export const CHANNEL_PREFIX = 'oidc-client-popup-'

/**
 * The page's script, for hosts with a content policy that forbids inline scripts. Include it at the end of the body.
 */
export const CALLBACK_SCRIPT = `(function (page) {
  'use strict'
  var address = page.location.href
  var origin = page.location.origin
  var answer = { source: '${MESSAGE_SOURCE}', url: address }
  var text = page.location.search.slice(1) + '&' + page.location.hash.slice(1)
  var parameters = new URLSearchParams(text)
  var state = parameters.get('state') || ''
  var isAnswer = parameters.has('code') || parameters.has('error')

  /** The return address in the state, if it is on this origin. */
  function returnAddress() {
    var end = state.indexOf(';')
    var candidates = [state]
    try {
      if (end >= 0) candidates.unshift(decodeURIComponent(state.slice(end + 1)))
    } catch (error) {}
    for (var i = 0; i < candidates.length; i++) {
      try {
        var target = new URL(candidates[i])
        if (target.origin === origin) return target.href
      } catch (error) {}
    }
  }

  /** Whether this tab left for the provider with this state. Answered once. */
  function isExpected() {
    try {
      var expected = page.sessionStorage.getItem('${RETURN_KEY}')
      if (expected !== state) return false
      page.sessionStorage.removeItem('${RETURN_KEY}')
      if (isAnswer) page.sessionStorage.setItem('${REDIRECT_ANSWER_KEY}', address)
      return true
    } catch (error) {
      return false
    }
  }

  if (page.parent !== page) return page.parent.postMessage(answer, origin)
  var target = returnAddress()
  if (target) {
    if (isExpected()) return page.location.replace(target)
    var words = 'This tab did not begin this sign-in, or lost it. Go back to the application, refresh it and sign in again.'
    ;(page.document.body || page.document.documentElement).textContent = words
    return
  }
  if (page.opener) page.opener.postMessage(answer, origin)
  try {
    var channel = new page.BroadcastChannel('${CHANNEL_PREFIX}' + (state || 'logout'))
    channel.postMessage(answer)
    channel.close()
  } catch (error) {}
  page.close()
})(window)
`

/** Hash of the script in the page, as in its content policy. A test compares it with the script. */
const SCRIPT_HASH = 'sha256-bhwaCWkNDrdYOyZEnLZKq3eCY5taRuiJPIcmPhnJ+eQ='

/**
 * The whole page, to be served at the redirect address: static, without external resources, with its own content
 * policy.
 */
export const CALLBACK_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; script-src '${SCRIPT_HASH}'">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>Signing in</title>
</head>
<body>
<p>You can close this window.</p>
<script>${CALLBACK_SCRIPT}</script>
</body>
</html>
`
