/* The REST calls of contact centers, signed-in users and masking: one chunk, loaded with the first of them. */
export { getConnectedApps, getMaskingPatterns, getPreviousTranscript } from './agent-calls.ts'
export {
  getAgentsByPortal,
  getPortalDetails,
  getPortals,
  getUserProfiles,
  selectUserProfile,
} from './portal-calls.ts'
export { getCustomerDetails, getUserDetails } from './user-calls.ts'
