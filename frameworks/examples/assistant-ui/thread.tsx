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
    <ThreadPrimitive.Root>
      <ThreadPrimitive.Viewport>
        <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
        <ThreadPrimitive.If running>
          <p className="working">The agent is writing …</p>
        </ThreadPrimitive.If>
        {suggestions.map(({ prompt }) => (
          <ThreadPrimitive.Suggestion key={prompt} prompt={prompt} send>
            {prompt}
          </ThreadPrimitive.Suggestion>
        ))}
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
  return (
    <MessagePrimitive.Root className="agent">
      <MessagePrimitive.Parts components={{ Text }} />
      <ActionBarPrimitive.Root>
        <ActionBarPrimitive.FeedbackPositive className="rating">Helpful</ActionBarPrimitive.FeedbackPositive>
      </ActionBarPrimitive.Root>
    </MessagePrimitive.Root>
  )
}
