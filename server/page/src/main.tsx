import { options, render } from 'preact'
import { Route } from 'preact-iso'

import { App } from './app.tsx'
import { at, mendAddress, takeToken } from './api.ts'

// A proxy may show the page below a path: views name their places without it.
const before = options.vnode?.bind(options)
options.vnode = (vnode) => {
  const { type, props } = vnode
  const name = type === 'a' ? 'href' : type === Route ? 'path' : undefined
  const place = name === undefined ? undefined : Reflect.get(props, name)
  // What is cloned was changed before.
  const isChanged = at('') !== '' && `${place}/`.startsWith(`${at('')}/`)
  if (name !== undefined && typeof place === 'string' && place.startsWith('/') && !isChanged)
    Reflect.set(props, name, at(place))
  before?.(vnode)
}

takeToken()
mendAddress()
const root = document.querySelector('#page')
if (root !== null) render(<App />, root)
