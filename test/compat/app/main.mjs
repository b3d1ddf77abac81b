// The scenario in an ES module application.
import packages from './packages.cjs'
import scenario from './scenario.cjs'

const load = (name) => import(name)
const startsSdk = ['off', 'front', 'beside', 'attach', 'bare'].includes(process.env.COMPAT_MODE)
await scenario(await packages.imported([...(startsSdk ? packages.sdk : []), ...packages.app], load))
