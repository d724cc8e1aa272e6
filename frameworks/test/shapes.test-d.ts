// Checked by the compiler: what useAiAgentChat() returns can be used where the AI SDK's helpers are expected.
import type { UseChatHelpers } from '@ai-sdk/react'
import type { AgentChatTransport } from '@aiagent/adapters/ai-sdk'
import type { AssistantUiStore } from '@aiagent/adapters/assistant-ui'
import type { AiAgentChat, AiAgentChatMessage } from '@aiagent/react/ai-sdk'
import type { ConversationMessage } from '@aiagent/view'
import type { ExternalStoreAdapter } from '@assistant-ui/react'
import type { ChatTransport, UIMessage } from 'ai'

type Assignable<From extends To, To> = From

export type Message = Assignable<AiAgentChatMessage, UIMessage>
export type Helpers = Assignable<AiAgentChat, UseChatHelpers<UIMessage>>
export type Transport = Assignable<AgentChatTransport, ChatTransport<UIMessage>>
export type Store = Assignable<AssistantUiStore, ExternalStoreAdapter<ConversationMessage>>
