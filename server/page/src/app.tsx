import { LocationProvider, Route, Router, useLocation } from 'preact-iso'

import { at, keepToken, toSearch } from './api.ts'
import type { ServiceOverview } from './api.ts'
import { plural } from './format.ts'
import { useAnswer, useChanges } from './live.ts'
import { KeyHelp } from './parts/key-help.tsx'
import { keptBetween } from './parts/scorer-choice.tsx'
import { ServiceContext } from './service.ts'
import { CompareView } from './views/compare.tsx'
import { ConversationView } from './views/conversation.tsx'
import { ConversationsView } from './views/conversations.tsx'
import { NowView } from './views/now.tsx'
import { FirstMinute } from './views/first-minute.tsx'
import { LabelsView } from './views/labels.tsx'
import { RunView } from './views/run.tsx'
import { RunsView } from './views/runs.tsx'
import { ScoresView } from './views/scores.tsx'
import { TryView } from './views/try.tsx'
import { WhyView } from './views/why.tsx'

const PLACES = [
  { path: '/', name: 'Now' },
  { path: '/why', name: 'Why' },
  { path: '/runs', name: 'Runs' },
  { path: '/conversations', name: 'Conversations' },
  { path: '/scores', name: 'Scores' },
  { path: '/compare', name: 'Compare' },
  { path: '/labels', name: 'Labels' },
  { path: '/try', name: 'Try' },
]

export function App() {
  return (
    <LocationProvider>
      <Page />
    </LocationProvider>
  )
}

function Page() {
  const { changes, isConnected } = useChanges()
  const { value: overview, error } = useAnswer<ServiceOverview>('/api/overview', {}, changes)
  if (overview === undefined || error?.startsWith('Expected the token') === true) return <Closed error={error} />
  return (
    <ServiceContext.Provider value={{ overview, changes }}>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <Bar overview={overview} isConnected={isConnected} />
      {!isConnected && (
        <p class="problem lost-note" role="alert">
          What you see may be old.
        </p>
      )}
      <main id="content" class={isConnected ? '' : 'is-old'}>
        <Router>
          <Route path="/" component={NowView} />
          <Route path="/why" component={WhyView} />
          <Route path="/runs" component={RunsView} />
          <Route path="/runs/:id" component={RunView} />
          <Route path="/conversations" component={ConversationsView} />
          <Route path="/conversations/:key" component={ConversationView} />
          <Route path="/scores" component={ScoresView} />
          <Route path="/compare" component={CompareView} />
          <Route path="/labels" component={LabelsView} />
          <Route path="/try" component={TryView} />
          <Route path="/setup" component={FirstMinute} />
          <Route default component={Nowhere} />
        </Router>
      </main>
    </ServiceContext.Provider>
  )
}

function Bar({ overview, isConnected }: { readonly overview: ServiceOverview; readonly isConnected: boolean }) {
  const { path, query } = useLocation()
  const shown = path.slice(at('').length) || '/'
  const isAt = (place: string) => shown === place || (place !== '/' && shown.startsWith(`${place}/`))
  const linkTo = (place: string) => place + toSearch(keptBetween(shown, place, query, overview))
  // What has nothing to show is left out.
  const isShown = (place: string) =>
    (place !== '/labels' || overview.files === undefined) && (place !== '/conversations' || overview.conversations > 0)
  return (
    <header class="bar">
      <a class="brand" href="/">
        <span class="brand-mark" aria-hidden="true">
          ✓
        </span>
        spanscore
      </a>
      <nav aria-label="Views">
        {PLACES.filter(({ path: place }) => isShown(place) || isAt(place)).map((place) => (
          <a key={place.path} href={linkTo(place.path)} aria-current={isAt(place.path) ? 'page' : undefined}>
            {place.name}
          </a>
        ))}
      </nav>
      <KeyHelp />
      <p class="state" role="status">
        <span class={isConnected ? 'dot live' : 'dot lost'} aria-hidden="true" />
        <span>{isConnected ? (overview.files === undefined ? 'Live' : 'Files') : lostOf(overview)}</span>
        <span class="wide-only muted">
          · {plural(overview.runs, 'run')}
          {overview.files !== undefined && ` in ${overview.files.join(', ')}`}
          {overview.open > 0 && `, ${overview.open} in progress`}
          {overview.left > 0 && `, ${plural(overview.left, 'message')} left out because the page was behind`}
        </span>
      </p>
    </header>
  )
}

function lostOf({ files }: ServiceOverview): string {
  return files === undefined ? 'The service does not answer' : 'spanscore view has ended'
}

function openWithToken(event: SubmitEvent & { readonly currentTarget: HTMLFormElement }): void {
  event.preventDefault()
  const given = new FormData(event.currentTarget).get('token')
  keepToken(typeof given === 'string' ? given : '')
  // The address stays, so that what was linked is shown.
  location.reload()
}

function Closed({ error }: { readonly error: string | undefined }) {
  if (error === undefined) return <p class="closed muted">Loading…</p>
  return (
    <main class="closed">
      <h1>This page is closed</h1>
      <p>{error}</p>
      <form class="token" onSubmit={openWithToken}>
        <label class="choice">
          <span>Token</span>
          <input name="token" type="password" autocomplete="off" required />
        </label>
        <button type="submit" class="primary">
          Open
        </button>
      </form>
      <p class="muted">
        The token is in the file <code>page-token</code> in the data folder of the service.{' '}
        <code>spanscore-server page-address --data …</code> prints an address with it; spanscore view prints its own.
      </p>
    </main>
  )
}

function Nowhere() {
  return (
    <section class="closed">
      <h1>There is no such view</h1>
      <a href="/runs">All runs</a>
    </section>
  )
}
