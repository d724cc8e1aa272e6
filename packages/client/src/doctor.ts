/**
 * Examines a deployment and the platform of an agent, and names a remedy for each problem.
 *
 * @module
 */
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
