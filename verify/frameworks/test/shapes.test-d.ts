// Checked by the compiler: what the bindings return can be used where the libraries expect their own forms.
import type { UseChatHelpers } from '@ai-sdk/react'
import type { AgentChatTransport } from '@aiagent/adapters/ai-sdk'
import type { AssistantUiStore } from '@aiagent/adapters/assistant-ui'
import type { ConversationStore } from '@aiagent/adapters/svelte'
import type { AiAgentChat, AiAgentChatMessage } from '@aiagent/react/ai-sdk'
import type { ConversationMessage, ConversationSnapshot } from '@aiagent/view'
import type { ExternalStoreAdapter } from '@assistant-ui/react'
import type { ChatTransport, UIMessage } from 'ai'
import type { ChatTransport as ChatTransport6, UIMessage as UIMessage6 } from 'ai-6'
import type { UseChatHelpers as UseChatHelpers6 } from 'ai-sdk-react-6'
import type { Readable } from 'svelte/store'

type Assignable<From extends To, To> = From

export type Message = Assignable<AiAgentChatMessage, UIMessage>
export type Helpers = Assignable<AiAgentChat, UseChatHelpers<UIMessage>>
export type Transport = Assignable<AgentChatTransport, ChatTransport<UIMessage>>
export type Message6 = Assignable<AiAgentChatMessage, UIMessage6>
export type Helpers6 = Assignable<AiAgentChat, UseChatHelpers6<UIMessage6>>
export type Transport6 = Assignable<AgentChatTransport, ChatTransport6<UIMessage6>>
export type Store = Assignable<AssistantUiStore, ExternalStoreAdapter<ConversationMessage>>
export type SvelteStore = Assignable<ConversationStore, Readable<ConversationSnapshot>>
