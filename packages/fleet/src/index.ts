/** Conversations with hosted AI agents, held by many processes over Redis. */
export { FleetError, type FleetErrorCode } from './errors.ts'
export type { FleetDeliveryReason, FleetEvents, FleetEventType, FleetListener } from './events.ts'
export { type ConversationInfo, Fleet } from './fleet.ts'
export { FENCE_HEADER } from './guarded-sockets.ts'
export { type Counters, type FleetMetrics, toPrometheus } from './metrics.ts'
export type { FleetLog, FleetOptions, RateLimit, WorkerOptions } from './options.ts'
export type { RedisConnection, RedisSource } from './redis.ts'
