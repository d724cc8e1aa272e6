/** What a process holds besides its heap. */
export interface Remains {
  /** Listeners on `process`. */
  processListeners: number
  /** Timers, sockets and requests that are active. Idle connections of `fetch` are not: their pool serves all agents. */
  timers: number
  sockets: number
}

/** Counts what the process holds now. */
export function remains(): Remains {
  const resources = process.getActiveResourcesInfo()
  const count = (kind: RegExp) => resources.filter(name => kind.test(name)).length
  return {
    processListeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
    timers: count(/^(?:Timeout|Immediate)$/),
    sockets: count(/^TCPSocketWrap$/),
  }
}
