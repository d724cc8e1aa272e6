import { type ChatStrings, errorSentence, loadChatStrings } from '@aiagent/elements/strings'
import { useConversation } from '@aiagent/react'
import { useEffect, useState } from 'react'

// #region banner
/** The sentence for an error, in the language of the page. `error.message` is for developers. */
export function ErrorBanner() {
  const error = useConversation(({ error }) => error)
  const [strings, setStrings] = useState<ChatStrings>()
  useEffect(() => {
    void loadChatStrings([document.documentElement.lang, ...navigator.languages]).then(setStrings)
  }, [])
  // The state of the connection says that the agent is trying again.
  if (!error || !strings || (error.code === 'service_unavailable' && error.remedy === 'wait')) return null
  return <p role="alert">{errorSentence(error.code, strings)}</p>
}
// #endregion
