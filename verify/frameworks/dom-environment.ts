import { Window } from 'happy-dom'
import { type Environment, populateGlobal } from 'vitest/runtime'

/** A page without a browser, for tests of hooks. */
export default {
  name: 'dom',
  viteEnvironment: 'client',
  setup(global) {
    const window = new Window({ url: 'https://host.example.test/' })
    const { keys, originals } = populateGlobal(global, window, { bindFunctions: true })
    return {
      async teardown() {
        await window.happyDOM.close()
        for (const key of keys) Reflect.deleteProperty(global, key)
        for (const [key, value] of originals) global[key] = value
      },
    }
  },
} satisfies Environment
