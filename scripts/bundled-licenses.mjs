import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Writes the licences of the packages inside a bundle beside it, as `NAME.licenses.txt`, each under a heading `# name version,
 * licence`. A bundle with code of this repository alone gets no such file. The list of parts of a package is read from it too.
 *
 * @param {Readonly<Record<string, string>>} [virtual] modules without a file, with the package folder that their code comes from
 */
export function bundledLicenses(virtual = {}) {
  return {
    name: 'bundled-licenses',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter(file => file.type === 'chunk')
      const used = chunks.flatMap(({ modules }) =>
        Object.entries(modules).flatMap(([id, { renderedLength }]) => {
          const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll('\\', '/')) ?? [virtual[id]]
          return folder === undefined || renderedLength === 0 ? [] : [folder]
        }),
      )
      const texts = [...new Set(used)].map(licenseOf).sort()
      const entry = chunks.find(({ isEntry, fileName }) => isEntry && fileName.endsWith('.js'))
      if (texts.length === 0 || !entry) return
      this.emitFile({ type: 'asset', fileName: `${entry.name}.licenses.txt`, source: texts.join('\n') })
    },
  }
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find(each => /^licen[cs]e/i.test(each))
  if (!file) throw new Error(`${name} has no file with its licence: do not bundle it.`)
  return `# ${name} ${version}, ${license}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
}
