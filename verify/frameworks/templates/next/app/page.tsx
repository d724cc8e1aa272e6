import { Help } from './help'

// The address is read for each request, not once by the build.
export const dynamic = 'force-dynamic'

// #region page
/** A server component: its code stays on the server. It gives the chat, which runs in the browser, its settings. */
export default function Page() {
  return (
    <main className="chat">
      <Help endpoint={process.env['AGENT_ENDPOINT'] ?? ''} />
    </main>
  )
}
// #endregion
