/** Codes a client decides on: `error_code` of token and error frames. */
export const ERROR_CODES = {
  STALE_TOKEN: '401-012',
  UNAUTHORIZED_PREFIX: '401',
  FORBIDDEN_PREFIX: '403',
} as const

/** Codes our own service half sends beside those of {@link ERROR_CODES}. A client only displays them. */
export const SERVICE_ERROR_CODE = {
  EXPIRED_TOKEN: '401-013',
  /** Body of the refused session call, not of a frame: the token has too little life left. */
  TOKEN_WILL_EXPIRE_SOON: '401-290',
  UNKNOWN_SESSION: '404-001',
  SESSION_ENDED: '409-001',
  UNREADABLE_FRAME: '400-001',
  FRAME_TOO_LARGE: '413-001',
  TOO_MANY_MESSAGES: '429-001',
  INTERNAL: '500-001',
} as const
