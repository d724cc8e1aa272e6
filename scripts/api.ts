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
import { publishedPackages, readManifest } from './stage.ts'
import { ROOT } from './tools.ts'

/** A module that hosts import. */
interface Entry {
  readonly folder: string
  /** Its declarations, from the folder of the package. */
  readonly types: string
  /** Name of its report: of the package, and of the module in it. */
  readonly report: string
}

const ENTRIES: readonly Entry[] = publishedPackages().flatMap(folder => {
  const { exports = {} } = readManifest(join(ROOT, 'packages', folder, 'package.json')) as {
    exports?: Readonly<Record<string, string | { readonly types: string }>>
  }
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [{ folder, types: target.types, report: folder + path.slice(1).replace('/', '-') }],
  )
})

/** Parts of libraries that declarations name, and that are not installed here. */
const OUTSIDE = ['packages/adapters/frameworks.d.ts', 'packages/react/react.d.ts']

const check = readCommandLine(
  {
    name: 'api',
    about: "Writes the report of each package's public API, from its build.",
    options: { check: { type: 'boolean', help: 'compares with the reports instead, and fails if one differs' } },
  },
  ({ values }) => values.check,
)

const missing = ENTRIES.filter(({ folder, types }) => !existsSync(join(ROOT, 'packages', folder, types)))
if (missing.length > 0) throw new Error('The packages are not built. Run `npm run build` first.')

// One program of the compiler for all entries: reading the declarations takes most of the time.
const configs = ENTRIES.map(settingsOf)
const outside = OUTSIDE.map(path => join(ROOT, path))
const additionalEntryPoints = [...configs.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath), ...outside]
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
      mainEntryPointFilePath: join(projectFolder, types),
      newlineKind: 'lf',
      compiler: { overrideTsconfig: { compilerOptions, files: [join(projectFolder, types)] } },
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
