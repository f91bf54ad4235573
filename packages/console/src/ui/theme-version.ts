import { type ReadonlySignal, signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** A number that changes with the effective theme, for what is drawn on a canvas. */
export const ThemeVersion = createContext<ReadonlySignal<number>>(signal(0))

export const useThemeVersion = (): ReadonlySignal<number> => useContext(ThemeVersion)
