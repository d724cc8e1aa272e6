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

/** Throws once the user who began an action has left. */
type Check = () => void

const userLeft = () => new SDKError('The user who began this has left.', 'ABORTED')

/**
 * The actions of a view. Those that fail reject, and set the error of the snapshot. After each await, an action has no further
 * effect once the user who began it has left.
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
  /** Returns a check for the present user: it throws once that user has left. */
  const bind = (): Check => {
    const { departures } = store
    return () => {
      if (store.departures !== departures) throw userLeft()
    }
  }
  const attempt = <T>(
    work: (signal: AbortSignal, stay: Check) => T | Promise<T>,
    { isShown = false, stay = bind() } = {},
  ): Promise<T> => {
    const run = async () => {
      try {
        const result = await work(presence.signal, stay)
        stay()
        return result
      } catch (error) {
        // Neither a result nor an error is for the next user.
        stay()
        if (isShown || !isRequested(error)) store.change({ error })
        throw error
      }
    }
    const call = run().catch(error => {
      // As in the agent: a host that ends its calls may have dropped their promises.
      if (isRequested(error)) call.catch(() => {})
      throw error
    })
    return call
  }
  const proceed = async ({ status }: InitializationResult, signal: AbortSignal, stay: Check) => {
    stay()
    if (status === 'ready') await agent.connect({ signal })
  }
  const isLeaving = () => agent.status.phase.at === 'leaving'
  /** Waits until the data of the previous user is removed. */
  const signedOut = async () => {
    while (isLeaving()) await new Promise(resolve => agent.once('phaseChanged', resolve))
  }
  const connect = async (signal: AbortSignal, stay: Check, interactive: boolean) => {
    if (isLeaving()) await signedOut()
    stay()
    await proceed(await agent.initialize({ interactive, signal }), signal, stay)
  }
  // Of an agent that is destroyed already, the error tells why nothing starts.
  const start = () =>
    attempt((signal, stay) => connect(signal, stay, interactive), { isShown: agent.status.phase.at === 'destroyed' })
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
    /** Number of sign-outs meanwhile. A change of the user does not count: the sign-in may have caused it. */
    let departures = 0
    const stay = () => {
      if (departures) throw userLeft()
    }
    const undo = [
      agent.subscribe('phaseChanged', async ({ payload: { at } }) => {
        if (at === 'leaving') departures++
        // `userChanged` is emitted in the same task as the end of `leaving`.
        else if ((await undefined, departures)) abort()
      }),
      agent.subscribe('userChanged', () => {
        departures = Math.max(0, departures - 1)
        if (signIn === own) store.change({ isSigningIn: true })
      }),
    ]
    const work = async () => {
      store.change({ isSigningIn: true, error: undefined })
      try {
        await Promise.race([onLogin?.(), aborted])
        await signedOut()
        stay()
        // Asks the user where the agent is ready and has no token that is valid.
        if (agent.getIsInitialized()) await agent.getAccessToken({ signal })
        await connect(signal, stay, true)
      } catch (cause) {
        throw signal.aborted ? new SDKError('The sign-in was cancelled.', 'ABORTED', { cause }) : cause
      } finally {
        for (const stop of undo) stop()
        if (signIn === own && !departures)
          store.change({ isSigningIn: false, ...(signal.aborted && { needsToken: true }) })
        // Stops listening.
        abort()
      }
    }
    return attempt(work, { stay })
  }
  const submit = async (text: string, stay: Check, isForAgent = false) => {
    if (!text.trim()) throw store.refusal('The text is blank.')
    const open = desk && (await desk)
    if (open) await open.restored()
    stay()
    const id = await (open ? open.send(store, text, isForAgent) : store.send(text))
    stay()
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
        : attempt(async (_, stay) => {
            const open = desk && (await desk)
            stay()
            if (open?.retry(store, id)) return
            if (!agent.delivery(id)?.retry()) throw store.refusal('The message cannot be sent again.')
          }),
    cancel: id => agent.delivery(id)?.cancel() ?? false,
    send: (text = store.getSnapshot().draft) => attempt((_, stay) => submit(text, stay)),
    choose: (messageId, option) =>
      attempt((_, stay) => {
        const item = store.list.find(messageId)
        if (!item?.canChoose || !item.options.includes(option))
          throw store.refusal('The message does not offer this option.')
        return submit(option, stay, true)
      }),
    select: choice =>
      attempt(async (signal, stay) => {
        const { gate } = store.getSnapshot()
        if (!gate)
          throw new SDKError(
            'Nothing has to be selected now: the agent is not initialized, or its selection is complete.',
            'NOT_INITIALIZED',
          )
        store.change({ error: undefined })
        await proceed(
          await (gate.gate === 'portal'
            ? agent.selectPortal(choice as Portal)
            : gate.gate === 'agent'
              ? agent.selectAgent(choice as AgentListItem)
              : agent.selectUserProfile(choice as UserProfile)),
          signal,
          stay,
        )
      }),
    rate: (messageId, rating) =>
      attempt(async (_, stay) => {
        const item = store.list.find(messageId)
        if (!item?.canRate || !item.messageId) throw store.refusal('The message cannot be rated.')
        await agent.send(createFeedbackMessage({ rating, answerMessageId: item.messageId }))
        stay()
        store.list.rate(item, rating)
        store.save()
        store.change()
      }),
    login: ({ signal } = {}) => login([presence.signal, signal]),
    openDesk: messageId =>
      attempt(async (_, stay) => {
        const { escalation } = store.list.find(messageId) ?? {}
        const open = desk && (await desk)
        stay()
        if (!open || !escalation) throw store.refusal('The view has no live desk for this message.')
        return open.open(store, escalation)
      }),
    endDesk() {
      const { departures } = store
      void desk?.then(open => {
        if (store.departures === departures) open?.end()
      })
    },
    restart: () => attempt(() => agent.restartConnection()),
    clearError: () => store.change({ error: undefined }),
    markRead: store.markRead,
    explain: () => agent.explain(),
    async export(format, options) {
      const stay = bind()
      const { exportConversation } = await import('./export-conversation.ts')
      stay()
      return exportConversation(store.list.get(), format, options, store.list.newSession()?.after)
    },
  }
}
