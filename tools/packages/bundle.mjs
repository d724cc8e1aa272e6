// Bundles page.mjs of a project for browsers with webpack and with Rollup: `node bundle.mjs PROJECT`. Prints the modules of each.
import { resolve } from 'node:path'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import { rollup } from 'rollup'
import webpack from 'webpack'

const project = resolve(process.argv[2] ?? '.')
const input = resolve(project, 'page.mjs')

/** Bundles with webpack, and returns the paths of the modules. */
function withWebpack() {
  const compiler = webpack({
    mode: 'production',
    target: 'web',
    context: project,
    entry: { page: input },
    output: { path: resolve(project, 'webpack'), publicPath: '/webpack/' },
    optimization: { minimize: false },
    performance: false,
  })
  return new Promise((settle, reject) => {
    compiler.run((error, stats) => {
      if (error) return reject(error)
      if (stats.hasErrors() || stats.hasWarnings())
        return reject(new Error(stats.toString({ preset: 'errors-warnings' })))
      const modules = []
      for (const { nameForCondition, modules: inner = [] } of stats.toJson({
        all: false,
        modules: true,
        nestedModules: true,
      }).modules)
        modules.push(nameForCondition, ...inner.map(module => module.nameForCondition))
      compiler.close(() => settle(modules.filter(Boolean)))
    })
  })
}

/** Bundles with Rollup, and returns the paths of the modules. */
async function withRollup() {
  const problems = []
  const bundle = await rollup({
    input,
    plugins: [nodeResolve({ browser: true })],
    onwarn: warning => problems.push(warning.message),
  })
  const { output } = await bundle.write({ dir: resolve(project, 'rollup'), format: 'es' })
  if (problems.length > 0) throw new Error(`Rollup warns: ${problems.join('\n')}`)
  return output.flatMap(chunk => Object.keys(chunk.modules ?? {}))
}

console.log(JSON.stringify({ webpack: await withWebpack(), rollup: await withRollup() }))
