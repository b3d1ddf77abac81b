// The application as a CommonJS module.
const answering = require('./answering.cjs')
const starting = require('./starting.cjs')

if (globalThis.vendor === undefined && process.env.HOW !== 'own') {
  starting.required(require)
  globalThis.vendor = starting.start()
}
starting.required(require, answering.packages)
answering.answer(starting.get).catch((error) => {
  console.error(error)
  process.exitCode = 1
})
