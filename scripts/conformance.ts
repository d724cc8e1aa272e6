// Plays the scenarios of verify/conformance: `npm run conformance`, with `-- --weather all` in every weather.
import { WEATHERS } from '@aiagent/emulator'
import { readCommandLine, UsageError } from './command-line.ts'
import { ownTool, run } from './tools.ts'

const KINDS = ['all', 'drawn', ...Object.keys(WEATHERS)]

const { weather, isBuilt } = readCommandLine(
  {
    name: 'conformance',
    about: 'Plays the scenarios of the specification against the emulator.',
    options: {
      weather: {
        type: 'string',
        value: 'NAME',
        help: `plays each scenario in a weather too: all, drawn (two for each, by the seed), ${Object.keys(WEATHERS).join(', ')}`,
      },
      built: { type: 'boolean', help: 'uses the built client in place of its source' },
    },
  },
  ({ values }) => {
    if (values.weather !== undefined && !KINDS.includes(values.weather))
      throw new UsageError(`There is no weather "${values.weather}".`)
    return { weather: values.weather, isBuilt: values.built === true }
  },
)
if (weather !== undefined) process.env['CONFORMANCE_WEATHER'] = weather
if (isBuilt) process.env['CONFORMANCE_BUILT'] = '1'
process.exitCode = (await run(ownTool('vitest'), ['run', '--project', 'conformance'])).code
