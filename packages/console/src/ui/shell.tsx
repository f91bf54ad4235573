import type { ComponentChildren, FunctionComponent } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Health } from '../data/types.ts'
import icon from '../icon.svg'
import { CaptureBadge } from './capture.tsx'
import { useConsole, useShortcuts } from './console.ts'
import { Icon, type IconName } from './icon.tsx'
import { CodeNotice } from './lazy-view.tsx'
import type { Shortcut } from './shortcuts.ts'
import { Chip, toSeverity, useLoaded } from './state.tsx'

export interface Section {
  readonly path: string
  readonly label: string
  readonly icon: IconName
  readonly key: string
}

export type Palette = FunctionComponent<{
  readonly sections: readonly Section[]
  readonly close: () => void
}>

export function Shell({
  sections,
  title,
  loadPalette,
  children,
}: {
  sections: readonly Section[]
  title: string
  loadPalette: () => Promise<Palette>
  children: ComponentChildren
}) {
  const { navigation, server } = useConsole()
  const [isHelpOpen, setHelpOpen] = useState(false)
  const { palette, openPalette } = usePalette(loadPalette, sections)
  const main = useRef<HTMLElement>(null)
  const path = navigation.path.value
  useShortcuts(() => [
    ...sections.map(
      ({ path, label, key }): Shortcut => ({
        keys: `g ${key}`,
        label: `Open ${label}`,
        run: () => navigation.open(path),
      }),
    ),
    { keys: 'Control+k', label: 'Search pages, tools and data', run: openPalette },
    { keys: '?', label: 'Show the keys of this page', run: () => setHelpOpen(true) },
  ])
  useLayoutEffect(() => {
    document.title = `${title} · Causeway`
  }, [title])
  const isFirst = useRef(true)
  useLayoutEffect(() => {
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [path])
  return (
    <div class="shell">
      <a class="skip" href="#main" data-native>
        Skip to the content
      </a>
      <Header openPalette={openPalette} openHelp={() => setHelpOpen(true)} />
      <Navigation sections={sections} path={path} />
      <main id="main" tabIndex={-1} ref={main}>
        {!server.isReachable.value && (
          <p class="notice warn unreachable" role="status">
            The server is not reachable. This page shows what it loaded last, and retries.
          </p>
        )}
        {palette}
        {server.needsToken.value ? <TokenForm /> : children}
      </main>
      {isHelpOpen && <KeysDialog close={() => setHelpOpen(false)} />}
    </div>
  )
}

function Header({ openPalette, openHelp }: { openPalette: () => void; openHelp: () => void }) {
  const { preferences } = useConsole()
  return (
    <header>
      <a class="brand" href="/">
        <img src={icon} alt="" />
        Causeway
      </a>
      <span class="space" />
      <CaptureBadge />
      <HealthChip />
      <TokenButton />
      <button type="button" class="button quiet" aria-keyshortcuts="Control+K Meta+K" onClick={openPalette}>
        <Icon name="search" />
        Search
        <kbd class="wide-only">Ctrl K</kbd>
      </button>
      <button type="button" class="button quiet" onClick={openHelp}>
        <Icon name="keys" />
        Keys
      </button>
      <button type="button" class="button quiet" onClick={() => preferences.cycleTheme()}>
        <Icon name="theme" />
        Theme: {preferences.theme}
      </button>
    </header>
  )
}

const Navigation = ({ sections, path }: { sections: readonly Section[]; path: string }) => (
  <nav aria-label="Pages">
    <ul>
      {sections.map((section) => (
        <li key={section.path}>
          <a href={section.path} {...(isCurrent(section.path, path) ? { 'aria-current': 'page' } : {})}>
            <Icon name={section.icon} />
            {section.label}
          </a>
        </li>
      ))}
    </ul>
  </nav>
)

function usePalette(load: () => Promise<Palette>, sections: readonly Section[]) {
  const [palette, setPalette] = useState<ComponentChildren>()
  const openCount = useRef(0)
  const openPalette = (): void => {
    load().then(
      (Found) => {
        // The close event is asynchronous: a new palette may already be open.
        const close = () => setPalette((current) => (current === openedPalette ? undefined : current))
        const openedPalette = <Found key={++openCount.current} sections={sections} close={close} />
        setPalette(openedPalette)
      },
      () => setPalette(<CodeNotice />),
    )
  }
  return { palette, openPalette }
}

const isCurrent = (section: string, path: string): boolean =>
  section === '/' ? path === '/' : path === section || path.startsWith(`${section}/`)

function HealthChip() {
  const { server, capture } = useConsole()
  const health = useLoaded((signal) => server.get<Health>('/health', { signal }), [server.needsToken.value], {
    intervalMs: 5000,
  })
  useEffect(() => {
    if (health.value !== undefined) capture.state.value = health.value.capture
  }, [health.value])
  if (!server.isReachable.value) return <Chip severity="err">not reachable</Chip>
  if (health.value === undefined) return null
  const { status } = health.value
  return (
    <a href="/" style={{ textDecoration: 'none' }}>
      <Chip severity={toSeverity(status)}>{status === 'ok' ? 'healthy' : status}</Chip>
    </a>
  )
}

/** A different token may grant more access. */
function TokenButton() {
  const { server } = useConsole()
  if (!server.hasToken.value) return null
  const ask = (): void => {
    server.needsToken.value = true
  }
  return (
    <button type="button" class="button quiet" onClick={ask}>
      Token
    </button>
  )
}

/** Asks for a token, which is stored for this tab only. */
function TokenForm() {
  const { server } = useConsole()
  const isRejected = server.isTokenRejected.value
  const cancel = (): void => {
    server.needsToken.value = false
  }
  const [token, setToken] = useState('')
  return (
    <form
      class="card stack"
      style={{ maxWidth: '420px' }}
      onSubmit={(event) => {
        event.preventDefault()
        server.setToken(token.trim())
      }}
    >
      <h1>Token required</h1>
      <p>This server has a token file. Enter a token of it. This tab stores it until it is closed.</p>
      {isRejected && (
        <p class="notice err" role="alert">
          The server did not accept the token.
        </p>
      )}
      <label class="stack" style={{ gap: '4px' }}>
        Token
        <input
          type="password"
          autocomplete="off"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </label>
      <div>
        <button type="submit" class="button primary">
          Continue
        </button>{' '}
        {server.hasToken.value && !isRejected && (
          <button type="button" class="button" onClick={cancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  )
}

function KeysDialog({ close }: { close: () => void }) {
  const { shortcuts, preferences } = useConsole()
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-label="Keys" onClose={close}>
      <div class="stack">
        <div class="row spread">
          <h2>Keys</h2>
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </div>
        <table>
          <tbody>
            {shortcuts.groups.value.flat().map(({ keys, label }) => (
              <tr key={keys}>
                <td>{label}</td>
                <td class="number">
                  {keys.split(/[ +]/).map((key) => (
                    <kbd key={key}>{keyNames[key] ?? key}</kbd>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <label class="row">
          <input
            type="checkbox"
            checked={preferences.hasSingleKeys.value}
            onChange={(event) => preferences.setSingleKeys(event.currentTarget.checked)}
          />
          Keys without Ctrl or Alt are shortcuts
        </label>
      </div>
    </dialog>
  )
}

const keyNames: Readonly<Record<string, string>> = {
  Control: 'Ctrl',
  Enter: '↵',
  ArrowLeft: '←',
  ArrowRight: '→',
}
