import { type ReadonlySignal, signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

export interface StageColors {
  readonly background: string
  readonly grid: string
  readonly selection: string
  readonly contact: string
  readonly normal: string
  readonly friction: string
  readonly velocity: string
  readonly bodies: readonly string[]
}

/** Resolves colours, because canvases cannot use CSS variables. */
export function readColors(
  element: HTMLElement,
): StageColors & { readonly text: string; readonly series: readonly string[] } {
  const probe = document.createElement('span')
  // In forced-colours mode, all text colours would be the same.
  probe.style.setProperty('forced-color-adjust', 'none')
  element.append(probe)
  const read = (name: string): string => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const colors = {
    background: read('bg1'),
    grid: read('line'),
    selection: read('fg'),
    contact: read('err'),
    normal: read('ok'),
    friction: read('warn'),
    velocity: read('accent'),
    bodies: [1, 2, 3, 4, 5, 6].map((number) => read(`body${number}`)),
    text: read('fg2'),
    series: [1, 2, 3, 4].map((number) => read(`series${number}`)),
  }
  probe.remove()
  return colors
}

export const ThemeVersion = createContext<ReadonlySignal<number>>(signal(0))

export const useThemeVersion = (): ReadonlySignal<number> => useContext(ThemeVersion)
