export { FakeWebSocket } from './fake-web-socket.ts'
export { ManualClock, turnEventLoop } from './manual-clock.ts'
export { propertyRuns } from './property-runs.ts'
export { eventually, waitForEvent } from './wait-for.ts'
