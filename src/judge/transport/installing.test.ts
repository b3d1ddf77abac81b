import { expect, it } from 'vitest'

import { installing } from './installing.ts'

it.each([
  ['/app/node_modules/spanscore/dist/engine.js', '/app/main.js', 'npm install @ai-sdk/xai'],
  [
    'file:///home/ann/.npm/_npx/2f1c/node_modules/spanscore/dist/engine.js',
    '/home/ann/.npm/_npx/2f1c/node_modules/.bin/spanscore-server',
    'npx --package=@spanscore/server --package=@ai-sdk/xai spanscore-server …',
  ],
  [
    'file:///C:/Users/ann/npm-cache/_npx/2f1c/node_modules/spanscore/dist/engine.js',
    'C:\\Users\\ann\\npm-cache\\_npx\\2f1c\\node_modules\\@spanscore\\cli\\bin\\spanscore.js',
    'npx --package=@spanscore/cli --package=@ai-sdk/xai spanscore …',
  ],
])('installs a package where this one looks for it: %s', (place, program, command) => {
  expect(installing('@ai-sdk/xai', place, program)).toBe(command)
})
