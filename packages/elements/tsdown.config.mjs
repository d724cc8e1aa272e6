import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { build } from 'vite'
import { bundledLicenses } from '../../scripts/bundled-licenses.mjs'

/** Removes the blanks of the style sheets, which are template strings. */
const smallStyles = {
  name: 'small-styles',
  transform(code, id) {
    if (!/[\\/]style[\\/][\w-]+-style\.ts$/.test(id)) return undefined
    const small = code.replace(/`[^`]*`/g, css =>
      css
        .replace(/\s+/g, ' ')
        .replace(/([{};:,]) /g, '$1')
        .replace(/ ([{}])/g, '$1')
        .replaceAll(';}', '}'),
    )
    return { code: small, map: null }
  },
}

const LEXER = '\0marked-lexer'
const { resolve } = createRequire(import.meta.url)

/**
 * The lexer of the Markdown library without its parser, renderers and hooks: they are in the same file, and bundlers keep them,
 * since that file creates one of each and assigns properties. It makes the chunk a fifth smaller.
 */
const markedLexer = {
  name: 'marked-lexer',
  resolveId: id => (id === 'marked' ? LEXER : undefined),
  async load(id) {
    if (id !== LEXER) return undefined
    const require = createRequire(import.meta.url)
    const { version } = require('marked/package.json')
    const unused = {
      name: 'unused',
      transform: code =>
        code
          .replace(/=new (\w+);/g, '=/* @__PURE__ */new $1;')
          // The properties of the function `marked`, which lead to every class; only `use()` is declared among them.
          .replace(/\b(\w+)\.options=\1\.setOptions=.*?function (\w+)\(.*?(?=var \w+=\1\.options)/s, 'function $2(){}'),
    }
    const entry = {
      name: 'entry',
      resolveId: name => (name === LEXER ? name : undefined),
      load: name => (name === LEXER ? `export { Lexer } from ${JSON.stringify(require.resolve('marked'))}` : undefined),
    }
    const [{ output }] = [
      await build({
        configFile: false,
        logLevel: 'warn',
        plugins: [entry, unused],
        build: {
          write: false,
          minify: false,
          target: 'es2022',
          rolldownOptions: {
            input: LEXER,
            preserveEntrySignatures: 'strict',
            treeshake: { moduleSideEffects: false, propertyReadSideEffects: false },
          },
        },
      }),
    ].flat()
    const { code } = output[0]
    return `/*! The lexer of marked ${version}, MIT License, https://github.com/markedjs/marked */\n${code}`
  },
}

/** Files of both builds. Each holds also what its modules import, unless that is in a file that is named before. */
const FILES = [
  // What the elements share before a chat is opened; the launcher needs no languages.
  {
    name: 'element',
    test: /[\\/](?:language-around|adopt-styles|frame-style|chat-options|missing-attribute|own-keys)\.ts$/,
    priority: 4,
  },
  { name: 'languages', test: /[\\/](?:languages|error-sentence)\.ts$/, priority: 3 },
  // What every chat loads.
  { name: 'chat', test: /[\\/](?:open-chat|session-resume|explain|export-conversation)\.tsx?$/, priority: 2 },
]

/** The scripts that a page names. They do not wait at their top level: the bundler makes many more files of modules that do. */
const SCRIPTS = {
  'ai-agent-chat': `const loading = loadElement('ai-agent-chat', import('./index.ts'))
export const addLanguage = async (...language) => (await loading)?.addLanguage(...language)`,
  'ai-agent-launcher': `loadElement('ai-agent-launcher', import('./launcher.ts'))`,
}

/** Puts `script-entry.ts` into each of them: in a file of its own it could be missing, too. */
const scriptEntries = {
  name: 'script-entries',
  resolveId: id => (id in SCRIPTS ? join(import.meta.dirname, 'src', `${id}.entry.ts`) : undefined),
  load(id) {
    const script = SCRIPTS[basename(id, '.entry.ts')]
    if (!script) return undefined
    const load = readFileSync(join(import.meta.dirname, 'src/script-entry.ts'), 'utf8').replace('export ', '')
    return { code: `${load}\n${script}`, moduleType: 'ts' }
  },
  /** What the element imports is requested beside it, and not after it. */
  generateBundle(_options, files) {
    for (const entry of Object.values(files).filter(({ isEntry }) => isEntry)) {
      const imported = entry.dynamicImports.flatMap(name => files[name].imports)
      entry.code = imported.map(name => `import("./${name}").catch(()=>{});`).join('') + entry.code
    }
  },
}

/** Files of the script build alone. */
const SCRIPT_FILES = [
  // What every chat loads first, with the languages: one request.
  { name: 'chat-element', test: /[\\/](?:index|chat-element|languages|error-sentence)\.ts$/, priority: 3 },
  // What the launcher loads with its first chat, or where an attribute asks for it.
  { name: 'launched', test: /[\\/]launcher[\\/]/, priority: 3 },
  // What only some chats load.
  { name: 'login', test: /[\\/]auth[\\/](?:login[\\/]|create-strategy|host-strategy)/, priority: 1 },
  { name: 'features', test: /[\\/](?:client[\\/]src[\\/]|tab-lock\.ts$)/ },
]

const common = {
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  fixedExtension: false,
  plugins: [smallStyles, markedLexer, bundledLicenses({ [LEXER]: dirname(resolve('marked/package.json')) })],
}

export default [
  {
    ...common,
    entry: { index: 'src/index.ts', launcher: 'src/launcher.ts', strings: 'src/strings.ts' },
    dts: true,
    // The protocol is inside, so that each of its readers is in the chunk that uses it.
    deps: { alwaysBundle: ['@aiagent/protocol'], onlyBundle: false },
    inputOptions: { resolve: { conditionNames: ['@aiagent/source', 'import', 'browser', 'default'] } },
    outputOptions: { comments: { jsdoc: false }, codeSplitting: { groups: FILES } },
  },
  {
    ...common,
    // For pages without a bundler: modules with all dependencies inside, and what loads on demand beside them.
    entry: Object.keys(SCRIPTS),
    outDir: 'dist/script',
    plugins: [scriptEntries, ...common.plugins],
    minify: true,
    dts: false,
    deps: { alwaysBundle: [/./], onlyBundle: false },
    inputOptions: { resolve: { conditionNames: ['@aiagent/source', 'import', 'browser', 'default'] } },
    outputOptions: {
      codeSplitting: { groups: [...FILES.filter(({ name }) => name !== 'languages'), ...SCRIPT_FILES] },
    },
  },
]
