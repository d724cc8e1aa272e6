/*
 * The page that the identity provider sends its answers to. It needs neither this library nor any other: it hands its own
 * address over to whoever waits for it, and does nothing else.
 *
 * - in a hidden frame, to the page around it
 * - with a way back in its state (a redirect), to the next page of this tab, through the tab's store: the application's
 *   address never holds a code
 * - in a popup, to the page that opened it; where the provider's opener policy has cut the two apart, through the channel
 *   that is named after the state
 */

/** Under which key of the tab's store the answer of a redirect waits for the application. */
export const REDIRECT_ANSWER_KEY = 'aiagent_login_answer'
/** What the identity library calls its messages. */
export const MESSAGE_SOURCE = 'oidc-client'
/** Start of the channel's name; the state follows, or for a logout without one the word `logout`. */
export const CHANNEL_PREFIX = 'oidc-client-popup-'

/** The page's script, for hosts whose content policy forbids it inline: it stands before everything else. */
export const CALLBACK_SCRIPT = `(function (page) {
  'use strict'
  var address = page.location.href
  var origin = page.location.origin
  var answer = { source: '${MESSAGE_SOURCE}', url: address }
  var text = page.location.search.slice(1) + '&' + page.location.hash.slice(1)
  var parameters = new URLSearchParams(text)
  var state = parameters.get('state') || ''
  var isAnswer = parameters.has('code') || parameters.has('error')

  /** The way back, when the state names one on this origin. */
  function wayBack() {
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

  if (page.parent !== page) return page.parent.postMessage(answer, origin)
  var target = wayBack()
  if (target) {
    try {
      if (isAnswer) page.sessionStorage.setItem('${REDIRECT_ANSWER_KEY}', address)
    } catch (error) {}
    return page.location.replace(target)
  }
  if (page.opener) page.opener.postMessage(answer, origin)
  var channel = new page.BroadcastChannel('${CHANNEL_PREFIX}' + (state || 'logout'))
  channel.postMessage(answer)
  channel.close()
  page.close()
})(window)
`

/** The whole page, to be served at the redirect address: static, and without any resource of its own. */
export const CALLBACK_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>Signing in</title>
<script>
${CALLBACK_SCRIPT}</script>
</head>
<body>
<p>You can close this window.</p>
</body>
</html>
`
