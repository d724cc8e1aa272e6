import type { ConversationMessage } from '@aiagent/view'
import {
  ActionBarPrimitive,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  useAuiState,
} from '@assistant-ui/react'

/** A thread of assistant-ui's primitives, as its documentation builds it. */
export function Thread() {
  const suggestions = useAuiState(({ thread }) => thread.suggestions)
  return (
    <ThreadPrimitive.Root className="thread">
      <ThreadPrimitive.Viewport className="viewport">
        <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
        <ThreadPrimitive.If running>
          <p className="working">The agent is writing …</p>
        </ThreadPrimitive.If>
        <div className="suggestions">
          {suggestions.map(({ prompt }) => (
            <ThreadPrimitive.Suggestion key={prompt} prompt={prompt} send>
              {prompt}
            </ThreadPrimitive.Suggestion>
          ))}
        </div>
      </ThreadPrimitive.Viewport>
      <ComposerPrimitive.Root>
        <ComposerPrimitive.Input aria-label="Message" />
        <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
      </ComposerPrimitive.Root>
    </ThreadPrimitive.Root>
  )
}

const Text = ({ text }: { text: string }) => <p>{text}</p>

function UserMessage() {
  return (
    <MessagePrimitive.Root className="user">
      <MessagePrimitive.Parts components={{ Text }} />
    </MessagePrimitive.Root>
  )
}

function AssistantMessage() {
  // The message of the view: assistant-ui does not know which messages can be rated.
  const { custom } = useAuiState(({ message }) => message.metadata)
  const canRate = (custom['message'] as ConversationMessage | undefined)?.canRate
  return (
    <MessagePrimitive.Root className="agent">
      <MessagePrimitive.Parts components={{ Text }} />
      {canRate && (
        <ActionBarPrimitive.Root>
          <ActionBarPrimitive.FeedbackPositive className="rating">Helpful</ActionBarPrimitive.FeedbackPositive>
        </ActionBarPrimitive.Root>
      )}
    </MessagePrimitive.Root>
  )
}
