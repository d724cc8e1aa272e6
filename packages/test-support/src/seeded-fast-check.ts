import fc from 'fast-check'

// Every property of a test run starts from the seed of the run, so that a failure can be repeated.
const seed = Number(process.env['PROPERTY_SEED'])
if (Number.isInteger(seed)) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })

export * from 'fast-check'
export default fc
