import {
  type AgentListItem,
  type AiAgent,
  createFeedbackMessage,
  type InitializationResult,
  type Portal,
  SDKError,
  type UserProfile,
} from '@aiagent/client'
import { isRequested } from './conversation-error.ts'
import type { ConversationView, ConversationViewOptions } from './conversation-snapshot.ts'
import type { Desk } from './desk.ts'
import type { ViewStore } from './view-store.ts'

type Actions = Omit<
  ConversationView,
  'subscribe' | 'getSnapshot' | 'getServerSnapshot' | 'setDraft' | 'onSignal' | 'destroy'
>

/**
 * The actions of a view. Those that fail reject, and set the error of the snapshot.
 *
 * @param desk the live desk, where the host has one; it resolves with undefined where its code could not be loaded
 */
export function createActions(
  agent: AiAgent,
  store: ViewStore,
  { onLogin, interactive = true }: ConversationViewOptions,
  desk?: Promise<Desk | undefined>,
): Actions {
  /** Aborted by `leave()`: what was begun before must not open the chat afterwards. */
  let presence = new AbortController()
  const attempt = <T>(work: (signal: AbortSignal) => T | Promise<T>, isShown = false): Promise<T> => {
    const call = (async () => work(presence.signal))().catch(error => {
      if (isShown || !isRequested(error)) store.change({ error })
      // As in the agent: a host that ends its calls may have dropped their promises.
      if (isRequested(error)) call.catch(() => {})
      throw error
    })
    return call
  }
  const proceed = async ({ status }: InitializationResult, signal: AbortSignal) => {
    if (status === 'ready') await agent.connect({ signal })
  }
  const connect = async (signal: AbortSignal, interactive: boolean) => {
    // The user before is being signed out.
    while (agent.status.phase.at === 'leaving') await new Promise(resolve => agent.once('phaseChanged', resolve))
    await proceed(await agent.initialize({ interactive, signal }), signal)
  }
  // Of an agent that is destroyed already, the error tells why nothing starts.
  const start = () => attempt(signal => connect(signal, interactive), agent.status.phase.at === 'destroyed')
  /** The sign-in in progress: the next one replaces it. */
  let signIn = new AbortController()
  const login = async (ends: readonly (AbortSignal | undefined)[]) => {
    signIn.abort()
    const own = new AbortController()
    const { signal } = own
    const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', reject))
    const abort = () => own.abort()
    for (const end of ends) end?.addEventListener('abort', abort, { signal })
    signIn = own
    store.change({ isSigningIn: true })
    try {
      await Promise.race([onLogin?.(), aborted])
      // Asks the user where the agent is ready and has no token that is valid.
      if (agent.getIsInitialized()) await agent.getAccessToken({ signal })
      await connect(signal, true)
    } catch (cause) {
      throw signal.aborted ? new SDKError('The sign-in was cancelled.', 'ABORTED', { cause }) : cause
    } finally {
      if (signIn === own) store.change({ isSigningIn: false, ...(signal.aborted && { needsToken: true }) })
      // Stops listening.
      abort()
    }
  }
  const submit = async (text: string, isForAgent = false) => {
    if (!text.trim()) throw store.refusal('The text is blank.')
    const open = desk && (await desk)
    const id = await (open ? open.send(store, text, isForAgent) : store.send(text))
    if (store.getSnapshot().draft === text) store.setDraft('')
    return id
  }
  return {
    start,
    leave() {
      presence.abort()
      presence = new AbortController()
      return agent.disconnect()
    },
    retry: id =>
      id === undefined
        ? start()
        : attempt(async () => {
            if (desk && (await desk)?.retry(store, id)) return
            if (!agent.delivery(id)?.retry()) throw store.refusal('The message cannot be sent again.')
          }),
    cancel: id => agent.delivery(id)?.cancel() ?? false,
    send: (text = store.getSnapshot().draft) => attempt(() => submit(text)),
    choose: (messageId, option) =>
      attempt(() => {
        const item = store.list.find(messageId)
        if (!item?.canChoose || !item.options.includes(option))
          throw store.refusal('The message does not offer this option.')
        return submit(option, true)
      }),
    select: choice =>
      attempt(async signal => {
        const { gate } = store.getSnapshot()
        if (!gate)
          throw new SDKError(
            'Nothing has to be selected now: the agent is not initialized, or its selection is complete.',
            'NOT_INITIALIZED',
          )
        await proceed(
          await (gate.gate === 'portal'
            ? agent.selectPortal(choice as Portal)
            : gate.gate === 'agent'
              ? agent.selectAgent(choice as AgentListItem)
              : agent.selectUserProfile(choice as UserProfile)),
          signal,
        )
      }),
    rate: (messageId, rating) =>
      attempt(async () => {
        const item = store.list.find(messageId)
        if (!item?.canRate || !item.messageId) throw store.refusal('The message cannot be rated.')
        await agent.send(createFeedbackMessage({ rating, answerMessageId: item.messageId }))
        store.list.rate(item, rating)
        store.save()
        store.change()
      }),
    login: ({ signal } = {}) => attempt(left => login([left, signal])),
    endDesk: () => void desk?.then(open => open?.end()),
    restart: () => attempt(() => agent.restartConnection()),
    clearError: () => store.change({ error: undefined }),
    markRead: store.markRead,
    explain: () => agent.explain(),
    async export(format) {
      const { exportConversation } = await import('./export-conversation.ts')
      return exportConversation(store.list.get(), format)
    },
  }
}
