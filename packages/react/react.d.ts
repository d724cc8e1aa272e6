/**
 * The part of React that this package uses. Not shipped: the package is checked without React here, and against the real
 * types in `verify/frameworks/`.
 */
declare module 'react' {
  export type ReactNode = unknown
  export interface Context<T> {
    readonly Provider: unknown
    readonly value?: T
  }
  export interface ReactElement {
    readonly type: unknown
  }
  export function createContext<T>(value: T): Context<T>
  export function createElement(type: unknown, props: object, ...children: unknown[]): ReactElement
  export function useContext<T>(context: Context<T>): T
  export function useEffect(effect: () => undefined | (() => void), dependencies?: readonly unknown[]): void
  export function useMemo<T>(create: () => T, dependencies: readonly unknown[]): T
  export function useRef<T>(value: T): { current: T }
  export function useSyncExternalStore<T>(
    subscribe: (listener: () => void) => () => void,
    getSnapshot: () => T,
    getServerSnapshot?: () => T,
  ): T
}
