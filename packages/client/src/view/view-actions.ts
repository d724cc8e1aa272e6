import {
  type AgentListItem,
  type AiAgent,
  createFeedbackMessage,
  type InitializationResult,
  MessageError,
  type Portal,
  SDKError,
  type UserProfile,
} from '../index.ts'
import type { ConversationView, ConversationViewOptions } from './conversation-snapshot.ts'
import type { ViewStore } from './view-store.ts'

type Actions = Omit<ConversationView, 'subscribe' | 'getSnapshot' | 'getServerSnapshot' | 'setDraft' | 'destroy'>

/** The actions of a view. Those that fail reject, and set the error of the snapshot. */
export function createActions(
  agent: AiAgent,
  store: ViewStore,
  { onLogin, interactive = true }: ConversationViewOptions,
): Actions {
  const attempt = async <T>(work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof SDKError && error.code === 'ABORTED')) store.change({ error })
      throw error
    }
  }
  const proceed = async ({ status }: InitializationResult) => {
    if (status === 'ready') await agent.connect()
  }
  const connect = async (interactive: boolean) => proceed(await agent.initialize({ interactive }))
  const start = () => attempt(() => connect(interactive))
  const submit = async (text: string) => {
    if (!text.trim()) throw invalid('The text is blank.')
    const id = await store.send(text)
    if (store.getSnapshot().draft === text) store.setDraft('')
    return id
  }
  return {
    start,
    retry: id =>
      id === undefined
        ? start()
        : attempt(() => {
            if (!agent.delivery(id)?.retry()) throw invalid('The message cannot be sent again.')
          }),
    cancel: id => agent.delivery(id)?.cancel() ?? false,
    send: (text = store.getSnapshot().draft) => attempt(() => submit(text)),
    choose: (messageId, option) =>
      attempt(() => {
        const item = store.list.find(messageId)
        if (!item?.canChoose || !item.options.includes(option)) throw invalid('The message does not offer this option.')
        return submit(option)
      }),
    select: choice =>
      attempt(async () => {
        const { gate } = store.getSnapshot()
        if (!gate) throw new SDKError('Nothing has to be selected now.', 'NOT_INITIALIZED')
        await proceed(
          await (gate.gate === 'portal'
            ? agent.selectPortal(choice as Portal)
            : gate.gate === 'agent'
              ? agent.selectAgent(choice as AgentListItem)
              : agent.selectUserProfile(choice as UserProfile)),
        )
      }),
    rate: (messageId, rating) =>
      attempt(async () => {
        const item = store.list.find(messageId)
        if (!item?.canRate || !item.messageId) throw invalid('The message cannot be rated.')
        await agent.send(createFeedbackMessage({ rating, answerMessageId: item.messageId }))
        store.list.rate(item, rating)
        store.save()
        store.change()
      }),
    login: () =>
      attempt(async () => {
        await onLogin?.()
        // Asks the user where the agent is ready and has no token that is valid.
        if (agent.getIsInitialized()) await agent.getAccessToken()
        await connect(true)
      }),
    restart: () => attempt(() => agent.restartConnection()),
    clearError: () => store.change({ error: undefined }),
    markRead: () => {
      store.change({ unread: 0 })
      agent.markRead()
    },
    explain: () => agent.explain(),
    async export(format) {
      const { exportConversation } = await import('./export-conversation.ts')
      return exportConversation(store.list.get(), format)
    },
  }
}

function invalid(message: string): MessageError {
  return new MessageError(message, 'invalid')
}
