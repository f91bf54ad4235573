import { render } from 'preact'
import { Capture } from './data/capture.ts'
import { Navigation } from './data/navigation.ts'
import { Preferences } from './data/preferences.ts'
import { Server } from './data/server.ts'
import { findPage } from './domain/find-page.ts'
import { ThemeVersion } from './ui/canvas-colors.ts'
import { ConsoleContext, useConsole } from './ui/console.ts'
import { LazyView, type View } from './ui/lazy-view.tsx'
import { type Palette, type Section, Shell } from './ui/shell.tsx'
import { Shortcuts } from './ui/shortcuts.ts'

const sections: readonly Section[] = [
  { path: '/', label: 'Overview', icon: 'overview', key: 'o' },
  { path: '/apps', label: 'Apps and tools', icon: 'apps', key: 'a' },
  { path: '/traffic', label: 'Traffic', icon: 'traffic', key: 't' },
  { path: '/sessions', label: 'Sessions', icon: 'sessions', key: 's' },
  { path: '/servers', label: 'Hosted servers', icon: 'servers', key: 'v' },
  { path: '/status', label: 'Health', icon: 'health', key: 'e' },
  { path: '/logs', label: 'Logs', icon: 'logs', key: 'l' },
  { path: '/replay', label: 'Replay', icon: 'replay', key: 'r' },
  { path: '/debrief', label: 'Debrief', icon: 'map', key: 'd' },
  { path: '/minds', label: 'Minds', icon: 'minds', key: 'm' },
  { path: '/trm', label: 'TRM', icon: 'steps', key: 'x' },
  { path: '/help', label: 'Help', icon: 'help', key: 'h' },
]

const loadOverview = async (): Promise<View> => (await import('./views/overview.tsx')).Overview
const loadApps = async (): Promise<View> => (await import('./views/apps/apps-page.tsx')).AppsPage

const loadTraffic = async (): Promise<View> => (await import('./views/traffic/traffic-page.tsx')).TrafficPage
const loadSessions = async (): Promise<View> =>
  (await import('./views/sessions/sessions-page.tsx')).SessionsPage
const loadServers = async (): Promise<View> => (await import('./views/servers/servers-page.tsx')).ServersPage
const loadHealth = async (): Promise<View> => (await import('./views/health/health-page.tsx')).HealthPage
const loadLogs = async (): Promise<View> => (await import('./views/logs/logs-page.tsx')).LogsPage
const loadRecordings = async (): Promise<View> =>
  (await import('./views/replay/recordings-page.tsx')).RecordingsPage
const loadViewer = async (): Promise<View> => (await import('./views/replay/viewer.tsx')).Viewer

const loadComparison = async (): Promise<View> =>
  (await import('./views/replay/comparison/comparison-page.tsx')).ComparisonPage

const loadPlots = async (): Promise<View> => (await import('./views/debrief/plots-page.tsx')).PlotsPage
const loadPlot = async (): Promise<View> => (await import('./views/debrief/plot-page.tsx')).PlotPage
const loadMinds = async (): Promise<View> => (await import('./views/minds/minds-page.tsx')).MindsPage
const loadMind = async (): Promise<View> => (await import('./views/minds/mind-page.tsx')).MindPage
const loadTrm = async (): Promise<View> => (await import('./views/trm/sessions-page.tsx')).TrmSessionsPage
const loadTrmSession = async (): Promise<View> =>
  (await import('./views/trm/session-page.tsx')).TrmSessionPage
const loadHelp = async (): Promise<View> => (await import('./views/help/help-page.tsx')).HelpPage

const loadPalette = async (): Promise<Palette> => (await import('./views/palette/palette.tsx')).Palette

/** The server serves the same paths. */
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
  { pattern: '/servers', title: 'Hosted servers', load: loadServers },
  { pattern: '/servers/:server', title: 'Hosted servers', load: loadServers },
  { pattern: '/status', title: 'Health', load: loadHealth },
  { pattern: '/logs', title: 'Logs', load: loadLogs },
  { pattern: '/replay', title: 'Replay', load: loadRecordings },
  { pattern: '/replay/:recording', title: 'Recording', load: loadViewer },
  { pattern: '/replay/:recording/compare/:other', title: 'Comparison', load: loadComparison },
  { pattern: '/debrief', title: 'Debrief', load: loadPlots },
  { pattern: '/debrief/plots/:filename', title: 'Plot', load: loadPlot },
  { pattern: '/minds', title: 'Minds', load: loadMinds },
  { pattern: '/minds/:mind', title: 'Mind', load: loadMind },
  { pattern: '/trm', title: 'TRM', load: loadTrm },
  { pattern: '/trm/:session', title: 'Session', load: loadTrmSession },
  { pattern: '/help', title: 'Help', load: loadHelp },
]

function App() {
  const { navigation } = useConsole()
  const path = navigation.path.value
  const matchedPage = findPage(pages, path)
  return (
    <Shell sections={sections} title={matchedPage?.page.title ?? 'Not found'} loadPalette={loadPalette}>
      {matchedPage === undefined ? (
        <div class="page">
          <h1>Page not found</h1>
          <p class="wrap">
            There is no page at <code>{path.slice(0, 200)}</code>. <a href="/">Open the overview</a>
          </p>
        </div>
      ) : (
        <LazyView
          key={matchedPage.page.title}
          load={matchedPage.page.load}
          parts={matchedPage.pathParameters}
        />
      )}
    </Shell>
  )
}

const preferences = new Preferences()
const server = new Server()
const value = {
  preferences,
  server,
  capture: new Capture(server),
  navigation: new Navigation(),
  shortcuts: new Shortcuts(preferences),
}

render(
  <ConsoleContext.Provider value={value}>
    <ThemeVersion.Provider value={preferences.themeVersion}>
      <App />
    </ThemeVersion.Provider>
  </ConsoleContext.Provider>,
  document.getElementById('console') as HTMLElement,
)
