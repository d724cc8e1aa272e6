// Looks for what the oldest engines of docs/guide/versions.md lack, in the code and the style sheets of pages. Uses of the platform are
// known by their types: written code has them, and the globals of bundled code too.

import { relative } from 'node:path'
import compat from '@mdn/browser-compat-data/forLegacyNode'
import type { CompatStatement, Identifier } from '@mdn/browser-compat-data/types'
import ts from 'typescript'
import { BASE_STYLE } from '../packages/elements/src/style/base-style.ts'
import { CHAT_STYLE } from '../packages/elements/src/style/chat-style.ts'
import { LAUNCHER_STYLE } from '../packages/elements/src/style/launcher-style.ts'
import { ROOT } from './tools.ts'

const FLOOR = { chrome: 120, firefox: 115, safari: 17 } as const

/** What is asked for before it is used, or is only an improvement where it is there. */
const ACCEPTED = new Set([
  ...['IDBFactory.databases', 'Symbol.asyncDispose', 'Uint8Array.toBase64', 'Uint8Array.fromBase64', 'URL.parse'],
  ...['text-wrap', 'field-sizing', 'forced-color-adjust', 'scrollbar-width', 'scrollbar-color'],
  ...['content-visibility', 'overflow-clip-margin'],
])

const FOLDERS = ['protocol/src', 'client/src', 'view/src', 'elements/src', 'client/dist', 'elements/dist']
const EXCLUDED = ['**/*.test.ts', '**/*.test-d.ts', '**/*.d.ts', '**/*.node.*', '**/dist/script/**']

/** @returns what is too new and where it is used, one line each */
export function findTooNew(): string[] {
  const patterns = FOLDERS.map(folder => `packages/${folder}/**/*`)
  const files = ts.sys.readDirectory(ROOT, ['.ts', '.tsx', '.js'], EXCLUDED, patterns)
  const { config } = ts.readConfigFile(`${ROOT}/tsconfig.pages.json`, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, ROOT)
  const lib = ['lib.esnext.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts']
  const program = ts.createProgram(files, { ...options, allowJs: true, lib, types: [] })
  const checker = program.getTypeChecker()
  const found = namesOfStyles().filter(name => [...placesOfStyle(name)].some(isMissing) && !ACCEPTED.has(name))
  for (const path of files) {
    const file = program.getSourceFile(path)
    const look = (node: ts.Node): void => {
      ts.forEachChild(node, look)
      const declarations = (ts.isIdentifier(node) && checker.getSymbolAtLocation(node)?.declarations) || []
      for (const name of new Set(declarations.map(nameInPlatform)))
        if (name && !ACCEPTED.has(name) && isMissing(placeOfName(name))) found.push(`${name}: ${relative(ROOT, path)}`)
    }
    if (file) look(file)
  }
  return [...new Set(found)]
}

/** The name of what the platform declares: `AbortSignal.any`; undefined for everything else. */
function nameInPlatform(declaration: ts.Declaration): string | undefined {
  if (!/\/typescript\/lib\/lib\.[^/]+$/.test(declaration.getSourceFile().fileName)) return undefined
  const name = (declaration as ts.NamedDeclaration).name?.getText() ?? ''
  const { parent } = declaration
  const holder = ts.isTypeLiteralNode(parent) ? parent.parent : parent
  const owner = ts.isInterfaceDeclaration(holder) || ts.isVariableDeclaration(holder) ? holder.name.getText() : ''
  return owner === '' ? name : `${owner.replace(/^Readonly(?=Array)|Constructor$/g, '')}.${name}`
}

function placeOfName(path: string): Identifier | undefined {
  const [owner = '', member] = path.split('.')
  const [api, builtin] = [compat.api?.[owner], compat.javascript.builtins?.[owner]]
  if (member === undefined) return api ?? builtin
  return api?.[member] ?? api?.[`${member}_static`] ?? builtin?.[member]
}

/** Properties, selectors, at-rules and functions of the style sheets. */
function namesOfStyles(): string[] {
  const pattern = /(?<=[;{]\s*)[a-z-]+(?=: )|(?<=[:@])[a-z-]+|[a-z-]+(?=\()/g
  return [...(BASE_STYLE + CHAT_STYLE + LAUNCHER_STYLE).matchAll(pattern)].map(([name]) => name)
}

function* placesOfStyle(name: string) {
  const { properties, selectors, types, 'at-rules': rules } = compat.css
  for (const place of [properties, selectors, rules, types, types?.['color']]) yield place?.[name]
}

function isMissing(at: Identifier | undefined): boolean {
  const { support } = (at?.__compat as CompatStatement | undefined) ?? {}
  return Object.entries(FLOOR).some(([engine, version]) => {
    const known = [support?.[engine as keyof typeof FLOOR]].flat()
    return known.every(
      one => one && !(Number.parseFloat(String(one.version_added).replace('≤', '')) <= version && !one.flags),
    )
  })
}
