// The scenario in a CommonJS application.
const scenario = require('./scenario.cjs')

scenario((name) => require(name)).catch((error) => {
  console.error(error)
  process.exitCode = 1
})
