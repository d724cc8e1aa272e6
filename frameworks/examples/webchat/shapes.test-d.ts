// Checked by the compiler: the adapter against the real DirectLine client, since WebChat declares its connection as `any`.
import type { Activity, DirectLineLike, PostedActivity } from '@aiagent/adapters/direct-line'
import type { Activity as AnyActivity, ConnectionStatus, IBotConnection, Message } from 'botframework-directlinejs'

type Assignable<From extends To, To> = From
/** Fields whose lists are read-only, and can be changed in DirectLine's types. */
type Lists = 'entities' | 'suggestedActions'

export type Members = Assignable<keyof DirectLineLike, keyof IBotConnection>
export type Shown = Assignable<Omit<Activity, Lists | 'type'>, Omit<Message, 'type'>>
export type Kinds = Assignable<Activity['type'], AnyActivity['type']>
export type Posted = Assignable<AnyActivity, PostedActivity>
export type Ids = Assignable<ReturnType<IBotConnection['postActivity']>, ReturnType<DirectLineLike['postActivity']>>
export type Statuses = Assignable<IBotConnection['connectionStatus$'], DirectLineLike['connectionStatus$']>
export type Ended = Assignable<ConnectionStatus.Ended, 5>
