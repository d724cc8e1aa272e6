export {
  type DoctorCheck,
  type DoctorCode,
  type DoctorFinding,
  type DoctorReport,
  type DoctorStatus,
  REMEDIES,
} from './doctor/report.ts'
export { type DoctorOptions, runDoctor } from './doctor/run-doctor.ts'
