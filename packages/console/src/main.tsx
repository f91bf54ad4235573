import { render } from 'preact'
import { Navigation } from './data/navigation.ts'
import { Preferences } from './data/preferences.ts'
import { Server } from './data/server.ts'
import { findPage } from './domain/find-page.ts'
import { ConsoleContext, useConsole } from './ui/console.ts'
import { LazyView, type View } from './ui/lazy-view.tsx'
import { type Section, Shell } from './ui/shell.tsx'
import { Shortcuts } from './ui/shortcuts.ts'

const sections: readonly Section[] = [
  { path: '/', label: 'Overview', icon: 'overview', key: 'o' },
  { path: '/apps', label: 'Apps and tools', icon: 'apps', key: 'a' },
  { path: '/traffic', label: 'Traffic', icon: 'traffic', key: 't' },
  { path: '/sessions', label: 'Sessions', icon: 'sessions', key: 's' },
  { path: '/status', label: 'Health', icon: 'health', key: 'e' },
  { path: '/logs', label: 'Logs', icon: 'logs', key: 'l' },
  { path: '/replay', label: 'Replay', icon: 'replay', key: 'r' },
]

const loadOverview = async (): Promise<View> => (await import('./views/overview.tsx')).Overview
const loadApps = async (): Promise<View> => (await import('./views/apps/apps-page.tsx')).AppsPage

const loadTraffic = async (): Promise<View> => (await import('./views/traffic/traffic-page.tsx')).TrafficPage
const loadSessions = async (): Promise<View> =>
  (await import('./views/sessions/sessions-page.tsx')).SessionsPage
const loadHealth = async (): Promise<View> => (await import('./views/health/health-page.tsx')).HealthPage
const loadLogs = async (): Promise<View> => (await import('./views/logs/logs-page.tsx')).LogsPage
const loadRecordings = async (): Promise<View> =>
  (await import('./views/replay/recordings-page.tsx')).RecordingsPage
const loadViewer = async (): Promise<View> => (await import('./views/replay/viewer.tsx')).Viewer

/** Path patterns with the title and the code of their page. The server serves the same paths. */
const pages: readonly {
  readonly pattern: string
  readonly title: string
  readonly load: () => Promise<View>
}[] = [
  { pattern: '/', title: 'Overview', load: loadOverview },
  { pattern: '/apps', title: 'Apps and tools', load: loadApps },
  { pattern: '/apps/:app', title: 'Apps and tools', load: loadApps },
  { pattern: '/apps/:app/:tool', title: 'Apps and tools', load: loadApps },
  { pattern: '/traffic', title: 'Traffic', load: loadTraffic },
  { pattern: '/traffic/:request', title: 'Traffic', load: loadTraffic },
  { pattern: '/sessions', title: 'Sessions', load: loadSessions },
  { pattern: '/status', title: 'Health', load: loadHealth },
  { pattern: '/logs', title: 'Logs', load: loadLogs },
  { pattern: '/replay', title: 'Replay', load: loadRecordings },
  { pattern: '/replay/:recording', title: 'Recording', load: loadViewer },
]

function App() {
  const { navigation } = useConsole()
  const path = navigation.path.value
  const found = findPage(pages, path)
  return (
    <Shell sections={sections} title={found?.page.title ?? 'Not found'}>
      {found === undefined ? (
        <p>
          There is no page at <code>{path}</code>. <a href="/">Open the overview</a>
        </p>
      ) : (
        <LazyView key={found.page.title} load={found.page.load} parts={found.parts} />
      )}
    </Shell>
  )
}

const preferences = new Preferences()
const value = {
  preferences,
  server: new Server(),
  navigation: new Navigation(),
  shortcuts: new Shortcuts(preferences),
}

render(
  <ConsoleContext.Provider value={value}>
    <App />
  </ConsoleContext.Provider>,
  document.getElementById('console') as HTMLElement,
)
