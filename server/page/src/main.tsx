import { render } from 'preact'

import { App } from './app.tsx'
import { mendAddress, takeToken } from './api.ts'

takeToken()
mendAddress()
const root = document.querySelector('#page')
if (root !== null) render(<App />, root)
