// Starts the distribution before the application, as `--import` does.
import starting from './starting.cjs'

await starting.imported((name) => import(name))
globalThis.vendor = starting.start()
