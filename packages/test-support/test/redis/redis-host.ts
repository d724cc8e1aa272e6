// Starts a Redis server, prints its socket path and never ends by itself.
import { startRedis } from '@aiagent/test-support/redis'

const { path } = await startRedis()
console.log(path)
setInterval(() => {}, 60_000)
