import { render } from 'preact'

import { App } from './app.tsx'
import { takeToken } from './api.ts'

takeToken()
const root = document.querySelector('#page')
if (root !== null) render(<App />, root)
