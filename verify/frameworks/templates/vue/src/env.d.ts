interface ImportMetaEnv {
  /** Address of the service. */
  readonly VITE_ENDPOINT: string
}

declare module '*.vue' {
  import type { Component } from 'vue'

  const component: Component
  export default component
}
