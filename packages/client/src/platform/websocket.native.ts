import type { WebSocketConstructor } from './environment.ts'

/**
 * The platform's own WebSocket, looked up when a connection is created.
 *
 * A constructor may return another object, so the caller receives the platform's socket itself, without a wrapper.
 * Throws if the platform has none: then pass one as `WebSocket` of the environment.
 */
export const WebSocketImplementation = function openNative(url: string) {
  if (typeof globalThis.WebSocket !== 'function') throw new Error('This platform has no WebSocket.')
  return new globalThis.WebSocket(url)
} as unknown as WebSocketConstructor
