import { createContext } from 'preact'
import { useContext, useLayoutEffect } from 'preact/hooks'
import type { Capture } from '../data/capture.ts'
import type { Navigation } from '../data/navigation.ts'
import type { Preferences } from '../data/preferences.ts'
import type { Server } from '../data/server.ts'
import type { Shortcut, Shortcuts } from './shortcuts.ts'

export interface Console {
  readonly server: Server
  readonly capture: Capture
  readonly navigation: Navigation
  readonly preferences: Preferences
  readonly shortcuts: Shortcuts
}

export const ConsoleContext = createContext<Console | undefined>(undefined)

export function useConsole(): Console {
  const contextValue = useContext(ConsoleContext)
  if (contextValue === undefined) throw new Error('used outside of the console')
  return contextValue
}

/** Binds shortcuts while a component is shown. `group` must not change. */
export function useShortcuts(group: () => readonly Shortcut[]): void {
  const { shortcuts } = useConsole()
  useLayoutEffect(() => shortcuts.add(group()), [shortcuts])
}
