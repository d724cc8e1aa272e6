import type { WebSocketConstructor } from './environment.ts'

/**
 * The platform's own WebSocket, looked up when a connection is made.
 *
 * A constructor may return another object than its own, so the caller gets the platform's socket itself, with nothing
 * in between. It throws where the platform has none: pass one as `WebSocket` of the environment there.
 */
export const WebSocketImplementation = function openNative(url: string) {
  if (typeof globalThis.WebSocket !== 'function') throw new Error('This platform has no WebSocket.')
  return new globalThis.WebSocket(url)
} as unknown as WebSocketConstructor
