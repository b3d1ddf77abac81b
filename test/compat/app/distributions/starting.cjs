// Loads packages by `import` or `require`, and starts the distribution of `VENDOR` with them.
const vendors = require('./vendors.cjs')

const vendor = vendors[process.env.VENDOR]
const ofVendor = ['@opentelemetry/api', ...vendor.packages]
const loaded = new Map()
const get = (name) => loaded.get(name)

/** Packages are loaded in their order, because a distribution patches what is loaded after it. */
function required(by, names = ofVendor) {
  for (const name of names) loaded.set(name, by(name))
}

async function imported(by, names = ofVendor) {
  for (const name of names) loaded.set(name, await by(name))
}

module.exports = { required, imported, get, vendor, start: () => vendor.start?.(get) }
