// The application as an ES module.
import answering from './answering.cjs'
import starting from './starting.cjs'

const load = (name) => import(name)
if (globalThis.vendor === undefined && process.env.HOW !== 'own') {
  await starting.imported(load)
  globalThis.vendor = starting.start()
}
await starting.imported(load, answering.packages)
await answering.answer(starting.get)
