// Read by `spanscore/register`.
import { createRequire } from 'node:module'

import { defineConfig } from 'spanscore'

import answering from './answering.cjs'

export default defineConfig({ scorers: answering.scorers(createRequire(import.meta.url)) })
