/* The REST calls of contact centers, signed-in users and masking: one chunk, loaded with the first of them. */
export {
  getAgentsByPortal,
  getPortalDetails,
  getPortals,
  getUserProfiles,
  selectUserProfile,
} from './portal-calls.ts'
export {
  getConnectedApps,
  getCustomerDetails,
  getMaskingPatterns,
  getPreviousTranscript,
  getUserDetails,
} from './record-calls.ts'
