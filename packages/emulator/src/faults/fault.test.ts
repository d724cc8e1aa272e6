import { describe, expect, it } from 'vitest'
import { FaultError, isStanding, parseFault } from './fault.ts'
import { compileRoute } from './fault-rules.ts'
import { parseFaultSchedule } from './fault-schedule.ts'

describe('a fault from external data', () => {
  it.each([
    { kind: 'silence', sessionId: 's-1', alsoLater: true, lost: false, forMs: 10 },
    { kind: 'answer', route: 'POST *', status: 503, body: null, headers: { a: 'b' }, times: 2 },
    { kind: 'drop', code: 1006 },
    { kind: 'push', frame: 'any text' },
    { kind: 'lift', of: 'slow-link' },
  ])('is accepted unchanged: %j', fault => {
    expect(parseFault(fault)).toEqual(fault)
  })

  it.each([
    [{ kind: 'silense' }, /^The fault cannot be understood: "kind" must be one of .*"silence".*, not "silense"\.$/],
    [{}, /"kind" must be one of/],
    ['drop', /it must be an object, not "drop"/],
    [{ kind: 'drop', cod: 1000 }, /there is no field "cod"/],
    [{ kind: 'drop', code: 1004 }, /"code" must be 1000 to 1003, 1005 to 1014, or 3000 to 4999/],
    [{ kind: 'drop', code: '1000' }, /"code" must be number, not "1000"/],
    [{ kind: 'delay-frames' }, /"ms" is missing/],
    [
      { kind: 'delay-frames', ms: -1, direction: 'up' },
      /"direction" must be .*; "ms" must be 0 or more|"ms" must be 0 or more/,
    ],
    [{ kind: 'slow-link', bytesPerSecond: 0 }, /"bytesPerSecond" must be above 0/],
    [{ kind: 'answer', status: 99 }, /"status" must be 200 to 599/],
    [{ kind: 'answer', status: 200, times: 0 }, /"times" must be 1 or more/],
    [{ kind: 'truncate-body', afterBytes: -1 }, /"afterBytes" must be 0 or more/],
    [{ kind: 'push', frame: 7 }, /"frame" must be text or an object/],
    [{ kind: 'silence', sessionId: '' }, /"sessionId" must not be empty/],
  ])('is rejected with the problem: %j', (fault, message) => {
    expect(() => parseFault(fault)).toThrow(FaultError)
    expect(() => parseFault(fault)).toThrow(message)
  })

  it('is lasting or immediate', () => {
    expect(isStanding({ kind: 'silence' })).toBe(true)
    expect(isStanding({ kind: 'drop' })).toBe(false)
    expect(isStanding({ kind: 'lift' })).toBe(false)
  })
})

describe('a schedule from external data', () => {
  it('is parsed from text or data', () => {
    const schedule = [{ afterMs: 5, fault: { kind: 'drop' } }]
    expect(parseFaultSchedule(JSON.stringify(schedule))).toEqual(schedule)
    expect(parseFaultSchedule(schedule)).toEqual(schedule)
  })

  it.each([
    ['[', /^f\.json is not JSON: /],
    ['{}', 'f.json must be a list of { "afterMs": …, "fault": { … } }.'],
    ['[{"afterMs":-1,"fault":{"kind":"drop"}}]', 'f.json, entry 1 cannot be understood: "afterMs" must be 0 or more.'],
    ['[{"after":1,"fault":{"kind":"drop"}}]', /entry 1 cannot be understood: .*there is no field "after"/],
    ['[{"afterMs":1}]', /entry 1 cannot be understood: "fault" is missing/],
    [
      '[{"afterMs":1,"fault":{"kind":"drop"}},{"afterMs":1,"fault":{"kind":"answer"}}]',
      /^f\.json, entry 2: the fault cannot be understood: .*"status"/,
    ],
  ])('is rejected with the place of the problem: %s', (text, message) => {
    expect(() => parseFaultSchedule(text, 'f.json')).toThrow(message)
  })
})

describe('a route', () => {
  it.each([
    [undefined, 'PUT', '/anything', true],
    ['*', 'GET', '/', true],
    ['/system/deploymentInfo', 'GET', '/system/deploymentInfo', true],
    ['/system/deploymentInfo', 'GET', '/system/deploymentInfo/more', false],
    ['POST /core/*/session', 'POST', '/core/a/b/session', true],
    ['POST /core/*/session', 'GET', '/core/a/b/session', false],
    ['/a.c', 'GET', '/abc', false],
    ['/($top)', 'GET', '/($top)', true],
  ])('%s means %s %s: %s', (route, method, path, meant) => {
    expect(compileRoute(route)(method, path)).toBe(meant)
  })
})
