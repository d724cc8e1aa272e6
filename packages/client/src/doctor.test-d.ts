import { assertType, describe, it } from 'vitest'
import type { DoctorCheck, DoctorCode, DoctorFinding, DoctorOptions, DoctorReport, DoctorStatus } from './doctor.ts'
import { runDoctor } from './doctor.ts'

describe('types of the doctor', () => {
  it('DoctorOptions, DoctorReport', async () => {
    assertType<DoctorOptions>({ endpoint: 'https://agents.example.com', ask: 'Hello', idleSeconds: 60 })
    // @ts-expect-error the endpoint is missing
    assertType<DoctorOptions>({ agent: 'help' })
    assertType<DoctorReport>(await runDoctor({ endpoint: 'https://agents.example.com' }))
    // @ts-expect-error a report has a list of findings
    assertType<DoctorReport>({ version: 1, library: '1', endpoint: '', agent: '', createdAt: '', status: 'passed' })
  })

  it('DoctorFinding, DoctorCheck, DoctorCode, DoctorStatus', () => {
    assertType<DoctorFinding>({ check: 'clock', status: 'warning', code: 'CLOCK_SKEW', text: 'A.', ms: 1 })
    // @ts-expect-error a finding has a sentence
    assertType<DoctorFinding>({ check: 'clock', status: 'passed', ms: 1 })
    assertType<DoctorCheck>('deployment')
    // @ts-expect-error an unknown check
    assertType<DoctorCheck>('weather')
    assertType<DoctorCode>('CORS_BLOCKED')
    // @ts-expect-error an unknown code
    assertType<DoctorCode>('RAIN')
    assertType<DoctorStatus>('skipped')
    // @ts-expect-error an unknown status
    assertType<DoctorStatus>('fine')
  })
})
