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
/** Callbacks that a caller of the real client passes. */
type Callback<Observable extends { subscribe(...given: never[]): unknown }> = NonNullable<
  Parameters<Observable['subscribe']>[0]
>
export type Ids = Assignable<
  Callback<ReturnType<IBotConnection['postActivity']>>,
  Callback<ReturnType<DirectLineLike['postActivity']>>
>
export type Statuses = Assignable<
  Callback<IBotConnection['connectionStatus$']>,
  Callback<DirectLineLike['connectionStatus$']>
>
export type Ended = Assignable<ConnectionStatus.Ended, 5>
