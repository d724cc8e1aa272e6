import { expect, it } from 'vitest'
import { createCounters, toPrometheus } from './metrics.ts'

it('[REL-137] gives each metric one help text and one type, before its values', () => {
  const worker = { ...createCounters(), id: 'w', shards: 4 }
  const fleet = { workers: 1, shards: 4, orphanedShards: 0, conversations: 2, pending: 1, oldestPendingMs: 1500 }
  const lines = toPrometheus({ worker, fleet }).trimEnd().split('\n')
  const names = new Set(lines.filter(line => !line.startsWith('#')).map(line => line.split(/[{ ]/)[0]))
  expect(names.size).toBeGreaterThan(10)
  for (const name of names) {
    const head = lines.findIndex(line => line.startsWith(`# HELP ${name} `))
    expect(lines[head]).toMatch(/^# HELP \w+ [A-Z][^\\]+\.$/)
    expect(lines[head + 1]).toBe(`# TYPE ${name} ${name?.endsWith('_total') ? 'counter' : 'gauge'}`)
    expect(lines[head + 2]).toMatch(new RegExp(`^${name}[{ ]`))
    expect(lines.filter(line => line.startsWith(`# HELP ${name} `))).toHaveLength(1)
  }
  expect(lines).toContain('aiagent_fleet_oldest_pending_seconds 1.5')
})
