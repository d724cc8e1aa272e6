export type { DoctorOptions } from './doctor/examination.ts'
export {
  type DoctorCheck,
  type DoctorCode,
  type DoctorFinding,
  type DoctorReport,
  type DoctorStatus,
  REMEDIES,
} from './doctor/report.ts'
export { runDoctor } from './doctor/run-doctor.ts'
