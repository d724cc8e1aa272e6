/** @jsxImportSource preact */
import type { ConversationSnapshot } from '@aiagent/view'
import type { ChatSettings } from './chat-settings.ts'
import { Choice } from './choice.tsx'
import { Composer } from './composer.tsx'
import { Header } from './header.tsx'
import { MessageList } from './message-list.tsx'
import { Notices } from './notices.tsx'
import { ErrorPanel, LoadingPanel } from './panels.tsx'
import { useAgentName, useClosed, useConnectionLine, useSnapshot } from './use-view.ts'

/** The chat: heading, one of the panels or the conversation, and the text field. */
export function Chat({ settings }: { settings: ChatSettings }) {
  const snapshot = useSnapshot(settings.view)
  const line = useConnectionLine(snapshot)
  const { trouble, isOnline } = line
  const closed = useClosed(settings)
  const agentName = useAgentName(settings)
  const title = settings.heading ?? agentName ?? settings.strings.title
  const stage = stageOf(snapshot)
  const { desk } = snapshot
  // A chat with a colleague needs no connection to the service.
  const isEnded = snapshot.connection.state === 'closed' && stage === 'conversation' && !desk
  return (
    <>
      <Header
        settings={settings}
        title={title}
        snapshot={snapshot}
        trouble={trouble}
        isOnline={isOnline}
        hasLine={stage === 'conversation'}
      />
      {stage === 'choice' && <Choice settings={settings} gate={snapshot.gate} error={snapshot.error} />}
      {stage === 'error' && <ErrorPanel settings={settings} remedy={snapshot.connection.remedy} />}
      {stage === 'loading' && <LoadingPanel settings={settings} />}
      {stage === 'conversation' && (
        <>
          <MessageList settings={settings} snapshot={snapshot} agentName={agentName} isEnded={isEnded} />
          <Notices settings={settings} snapshot={snapshot} line={line} closed={isEnded ? (closed ?? {}) : undefined} />
          {!desk?.isElsewhere && (
            <Composer
              settings={settings}
              draft={snapshot.draft}
              inputType={snapshot.messages.at(-1)?.input?.type}
              isEnded={isEnded}
            />
          )}
        </>
      )}
    </>
  )
}

type Stage = 'choice' | 'error' | 'loading' | 'conversation'

/** What the user sees. A conversation that has begun stays visible, whatever happens. */
function stageOf({ gate, needsLogin, connection, messages }: ConversationSnapshot): Stage {
  if (gate) return 'choice'
  const { state } = connection
  if (messages.length > 0) return 'conversation'
  if (needsLogin) return 'choice'
  if (state === 'failed') return 'error'
  return state === 'choosing' || state === 'idle' ? 'loading' : 'conversation'
}
