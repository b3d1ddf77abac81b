// Starts the distribution before the application, as `--require` does.
const starting = require('./starting.cjs')

starting.required(require)
globalThis.vendor = starting.start()
