import { bundledLicenses } from '../../scripts/bundled-licenses.mjs'
import * as protocol from '../protocol/src/index.ts'
import { LOGIN_FILE, LOGIN_MODULE, SCRIPT_INTRO } from './script-tag.mjs'

/** Files of modules that entries and features share, each with all that its modules import. */
const SHARED_FILES = [
  // What hosts, the view and the entry for React Native use without an agent, and all that this imports: so is the socket of
  // Node, which needs the limits and the pings. Otherwise this file and that of the agent would import each other. And the base
  // class of strategies: on Node the files of the agent and of the strategies import each other, and both extend it at once.
  {
    name: 'base',
    test: /[\\/]client[\\/]src[\\/](?:react-native|errors|auth[\\/]own-strategy|platform[\\/]socket-limits|conversation[\\/](?:message-handler|message-helpers))\.ts$|[\\/]protocol[\\/]src[\\/]chat[\\/](?:error-code|persona|role)\.ts$/,
    priority: 2,
  },
  // What else `import '@aiagent/client'` names, except the strategies of the option `auth`, and what the features import of it: a
  // feature that imports only another file would divide these in the bundle of a page.
  {
    name: 'agent',
    test: /[\\/]client[\\/]src[\\/](?:ai-agent|version|agent[\\/]preload|contact-center[\\/]portal[\\/]gates|log[\\/]host-transcript|outbox[\\/]message-queue)\.ts$/,
    priority: 1,
  },
  // The strategies that an anonymous page never runs. What they import is in the files above.
  {
    name: 'auth',
    test: /[\\/]client[\\/]src[\\/]auth[\\/](?:token-strategies|pre-auth-strategy|client-credentials-strategy)\.ts$/,
  },
  // What a page leaves for the next, for `resume`, `persistQueue` and `tabs`.
  {
    name: 'handed-over',
    test: /[\\/]client[\\/]src[\\/](?:storage[\\/]handed-over|platform[\\/]locks)\.ts$/,
  },
]

const common = { target: 'es2022', fixedExtension: false }
/** Files for pages without a bundler: all dependencies inside. */
const script = {
  platform: 'browser',
  minify: true,
  dts: false,
  deps: { alwaysBundle: [/./], onlyBundle: false },
  inputOptions: { resolve: { conditionNames: ['@aiagent/source', 'import', 'browser', 'default'] } },
}

export default [
  {
    ...common,
    entry: {
      index: 'src/index.ts',
      pkce: 'src/pkce.ts',
      msal: 'src/msal.ts',
      unstorage: 'src/unstorage.ts',
      'react-native': 'src/react-native.ts',
      recorder: 'src/recorder.ts',
      doctor: 'src/doctor.ts',
      otel: 'src/otel.ts',
      features: 'src/agent/features.ts',
      'features.node': 'src/agent/features.node.ts',
      strategies: 'src/auth/strategies.ts',
      'strategies.node': 'src/auth/strategies.node.ts',
      'websocket.node': 'src/platform/websocket.node.ts',
      'websocket.native': 'src/platform/websocket.native.ts',
    },
    format: 'esm',
    platform: 'neutral',
    dts: true,
    // `AiAgent` is disposable: hosts whose `lib` lacks that type need it to compile the declarations.
    // The same for types of the platform: an empty declaration merges with that of the DOM or of Node.
    banner: {
      dts:
        '/// <reference lib="esnext.disposable" />\n' +
        'declare global { interface AbortController {} interface AbortSignal {} interface LockManager {} interface RequestInit {} interface Response {} interface URL {} interface URLSearchParams {} interface Window {} }',
    },
    // Which of two files is meant is decided where the package is used, by the conditions in package.json.
    // The protocol is inside, so that each of its readers is in the chunk that uses it.
    deps: {
      neverBundle: ['#features', '#strategies', '#websocket'],
      alwaysBundle: ['@aiagent/protocol'],
      onlyBundle: false,
    },
    inputOptions: options => ({
      ...options,
      resolve: { ...options.resolve, conditionNames: ['@aiagent/source', 'import', 'default'] },
      // No comment for each module.
      experimental: { ...options.experimental, attachDebugInfo: 'none' },
      plugins: [options.plugins, constantsByValue(), noBareImports(), indexByFile(), bundledLicenses()],
    }),
    // The declarations hold the docstrings: a quarter less on the disks of all hosts.
    outputOptions: {
      comments: { jsdoc: false },
      // Few files: otherwise a bundler makes a file of each set of modules that is shared with a feature or another entry, and a
      // page loads all of them.
      codeSplitting: { groups: SHARED_FILES },
    },
  },
  {
    ...common,
    ...script,
    // The script tag: one file with the global AiAgentSdk.
    entry: { 'ai-agent-sdk': 'src/index.ts' },
    format: 'iife',
    globalName: 'AiAgentSdk',
    // A script knows its own address only while it runs first.
    outputOptions: { intro: SCRIPT_INTRO },
    plugins: [constantsByValue(), loginBeside(), bundledLicenses()],
  },
  {
    ...common,
    ...script,
    // The login, beside it: loaded when a user signs in.
    entry: { [LOGIN_FILE]: 'src/auth/login/load-login.ts' },
    format: 'esm',
    // One file: a host copies two.
    outputOptions: { codeSplitting: false },
    plugins: [constantsByValue(), bundledLicenses()],
  },
]

/**
 * Writes `ROLE.USER` and the other constants of the protocol by their values. Bundlers of pages do not know that their tables never
 * change, so that a page would have each name twice, and the names that it does not use.
 */
function constantsByValue() {
  const tables = new Map(Object.entries(protocol).filter(([, value]) => typeof value === 'object'))
  const use = new RegExp(`(?<!typeof |[.\\w])(${[...tables.keys()].join('|')})\\.([A-Z_]+)\\b`, 'g')
  return {
    name: 'constants-by-value',
    transform: {
      filter: { id: /[\\/](?:client|protocol)[\\/]src[\\/]/ },
      handler: code => code.replace(use, (_use, table, name) => JSON.stringify(tables.get(table)[name])),
    },
  }
}

/** No module has an effect when it is loaded, so an import without names only costs a request. */
function noBareImports() {
  return {
    name: 'no-bare-imports',
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle))
        if (file.type === 'chunk' && file.fileName.endsWith('.js'))
          file.code = file.code.replaceAll(/^import "\.\/[^"]+";\n/gm, '')
    },
  }
}

/**
 * esbuild loads all files that a used file names, except by `export *`. So the index names its files only in this way, and a
 * page does not load the files of which it uses nothing.
 */
function indexByFile() {
  return {
    name: 'index-by-file',
    generateBundle(_options, bundle) {
      const index = bundle['index.js']
      if (!index) return
      index.code = index.code
        .replaceAll(/^import (\{.+\}) from "(\.\/(\w+)-.+)";$/gm, (_import, names, file, name) => {
          const fileName = `index.${name}.js`
          this.emitFile({ type: 'asset', fileName, source: `export ${names} from "${file}";\n` })
          return `export * from "./${fileName}";`
        })
        .replace(/^export \{.+\};$/m, '')
      if (/^(?!export \* from )./m.test(index.code))
        throw new Error('The index contains code, whose names would be lost: name its module in SHARED_FILES.')
    },
  }
}

/** Keeps the login out of the script: it is a second file at the script's address. */
function loginBeside() {
  const id = '\0login-beside'
  return {
    name: 'login-beside',
    resolveId: source => (source.endsWith('/load-login.ts') ? id : undefined),
    load: asked => (asked === id ? LOGIN_MODULE : undefined),
  }
}
