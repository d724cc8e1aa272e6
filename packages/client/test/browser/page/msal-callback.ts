import { broadcastResponseToMainFrame } from '@azure/msal-browser/redirect-bridge'

/** What a host's page for returns does: after a login the library's part, after a logout the way back or the window's end. */
export function passOn(): void {
  const answer = new URLSearchParams(`${location.search.slice(1)}&${location.hash.slice(1)}`)
  if (answer.has('code') || answer.has('error')) return void broadcastResponseToMainFrame()
  // The library puts a state of its own before the one it was given.
  const route = answer.get('state')?.split('|').at(-1) ?? ''
  if (URL.canParse(route) && new URL(route).origin === location.origin) location.replace(route)
  else window.close()
}
