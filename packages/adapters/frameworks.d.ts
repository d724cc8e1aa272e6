/*
 * The parts of frameworks that this package uses. Not shipped: the package is checked without the frameworks here, and against the
 * real types in `verify/frameworks/`.
 */
declare module 'vue' {
  export interface ShallowRef<T> {
    value: T
  }
  export function shallowRef<T>(value: T): ShallowRef<T>
  export function getCurrentInstance(): object | null
  export function onMounted(hook: () => void): void
  export function onScopeDispose(hook: () => void): void
}

declare module 'solid-js' {
  export type Accessor<T> = () => T
  export function createSignal<T>(value: T): [Accessor<T>, (value: T) => void]
  export function onCleanup(cleanup: () => void): void
}

declare module '@angular/core' {
  export type Signal<T> = () => T
  export interface WritableSignal<T> extends Signal<T> {
    set(value: T): void
    asReadonly(): Signal<T>
  }
  export abstract class DestroyRef {
    abstract onDestroy(callback: () => void): () => void
  }
  export function inject<T>(token: abstract new () => T): T
  export function signal<T>(value: T): WritableSignal<T>
}
