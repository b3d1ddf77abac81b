// Read by `spanscore/register`.
import { createRequire } from 'node:module'

import { defineConfig } from 'spanscore'

import scorers from './scorers.cjs'

export default defineConfig({ scorers: scorers(createRequire(import.meta.url)) })
