// Writes the report of each package's public API, from its build: `npm run api`. With `--check` it compares instead.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  CompilerState,
  ConsoleMessageId,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type IExtractorInvokeOptions,
} from '@microsoft/api-extractor'
import { readCommandLine } from './command-line.ts'
import { ROOT } from './tools.ts'

interface Entry {
  readonly folder: string
  readonly types: string
  readonly report: string
  /** Declarations that the entry needs beside its own. */
  readonly also?: string
}

const ENTRIES: readonly Entry[] = [
  { folder: 'protocol', types: 'index.d.ts', report: 'protocol' },
  { folder: 'client', types: 'index.d.ts', report: 'client' },
  { folder: 'client', types: 'pkce.d.ts', report: 'client-pkce' },
  { folder: 'client', types: 'msal.d.ts', report: 'client-msal' },
  { folder: 'client', types: 'unstorage.d.ts', report: 'client-unstorage' },
  { folder: 'client', types: 'react-native.d.ts', report: 'client-react-native' },
  { folder: 'client', types: 'recorder.d.ts', report: 'client-recorder' },
  { folder: 'client', types: 'doctor.d.ts', report: 'client-doctor' },
  { folder: 'client', types: 'otel.d.ts', report: 'client-otel' },
  { folder: 'view', types: 'index.d.ts', report: 'view' },
  { folder: 'adapters', types: 'ai-sdk.d.ts', report: 'adapters-ai-sdk' },
  { folder: 'adapters', types: 'assistant-ui.d.ts', report: 'adapters-assistant-ui' },
  { folder: 'adapters', types: 'direct-line.d.ts', report: 'adapters-direct-line' },
  { folder: 'adapters', types: 'vue.d.ts', report: 'adapters-vue', also: 'frameworks.d.ts' },
  { folder: 'adapters', types: 'svelte.d.ts', report: 'adapters-svelte' },
  { folder: 'adapters', types: 'angular.d.ts', report: 'adapters-angular', also: 'frameworks.d.ts' },
  { folder: 'adapters', types: 'solid.d.ts', report: 'adapters-solid', also: 'frameworks.d.ts' },
  { folder: 'react', types: 'index.d.ts', report: 'react', also: 'react.d.ts' },
  { folder: 'react', types: 'ai-sdk.d.ts', report: 'react-ai-sdk', also: 'react.d.ts' },
  { folder: 'elements', types: 'index.d.ts', report: 'elements' },
  { folder: 'elements', types: 'launcher.d.ts', report: 'elements-launcher' },
  { folder: 'elements', types: 'strings.d.ts', report: 'elements-strings' },
  { folder: 'fleet', types: 'index.d.ts', report: 'fleet' },
  { folder: 'emulator', types: 'index.d.ts', report: 'emulator' },
  { folder: 'emulator', types: 'node/index.d.ts', report: 'emulator-node' },
  { folder: 'testing', types: 'index.d.ts', report: 'testing' },
  { folder: 'testing', types: 'playwright.d.ts', report: 'testing-playwright' },
]

const check = readCommandLine(
  {
    name: 'api',
    about: "Writes the report of each package's public API, from its build.",
    options: { check: { type: 'boolean', help: 'compares with the reports instead, and fails if one differs' } },
  },
  ({ values }) => values.check,
)

const missing = ENTRIES.filter(({ folder, types }) => !existsSync(join(ROOT, 'packages', folder, 'dist', types)))
if (missing.length > 0) throw new Error('The packages are not built. Run `npm run build` first.')

// One program of the compiler for all entries: reading the declarations takes most of the time.
const configs = ENTRIES.map(settingsOf)
const also = ENTRIES.flatMap(({ folder, also }) => (also ? [join(ROOT, 'packages', folder, also)] : []))
const additionalEntryPoints = [...configs.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath), ...also]
const compilerState = CompilerState.create(configs[0] as ExtractorConfig, { additionalEntryPoints })
const options: IExtractorInvokeOptions = {
  compilerState,
  localBuild: !check,
  // It says for each entry which compiler it uses.
  messageCallback: message => {
    message.handled ||= message.messageId === ConsoleMessageId.Preamble
  },
}
const failed = configs.filter(config => !Extractor.invoke(config, options).succeeded)
if (failed.length > 0 && check)
  console.error('If the change of the API is meant, run `npm run build && npm run api` and commit the reports.')
process.exitCode = failed.length > 0 ? 1 : 0

/** One set of settings per entry, inside the package, since the report is named after the package around it. */
function settingsOf({ folder, types, report }: Entry): ExtractorConfig {
  const projectFolder = join(ROOT, 'packages', folder)
  const reportFolder = join(projectFolder, 'etc')
  const cache = join(projectFolder, '.cache', 'api')
  mkdirSync(cache, { recursive: true })
  mkdirSync(reportFolder, { recursive: true })
  const compilerOptions = {
    target: 'ES2022',
    module: 'ESNext',
    moduleResolution: 'bundler',
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    types: ['node'],
    strict: true,
    skipLibCheck: true,
  }
  const silent = { logLevel: ExtractorLogLevel.None, addToApiReportFile: false }
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(projectFolder, 'package.json'),
    configObject: {
      projectFolder,
      mainEntryPointFilePath: join(projectFolder, 'dist', types),
      newlineKind: 'lf',
      compiler: { overrideTsconfig: { compilerOptions, files: [join(projectFolder, 'dist', types)] } },
      apiReport: {
        enabled: true,
        reportFileName: `${report}.api.md`,
        reportFolder,
        reportTempFolder: cache,
        includeForgottenExports: false,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        extractorMessageReporting: {
          default: { logLevel: ExtractorLogLevel.Error },
          'ae-forgotten-export': { logLevel: ExtractorLogLevel.None, addToApiReportFile: true },
          'ae-missing-release-tag': silent,
          'ae-undocumented': silent,
          'ae-unresolved-link': silent,
        },
        tsdocMessageReporting: { default: silent },
      },
    },
  })
}
