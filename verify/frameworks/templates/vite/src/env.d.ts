interface ImportMetaEnv {
  /** Address of the service. */
  readonly VITE_ENDPOINT: string
}
