import { type Signal, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const themes: readonly Theme[] = ['system', 'light', 'dark']

export class Preferences {
  readonly theme: Signal<Theme>
  /** Whether keys without a modifier are shortcuts (WCAG 2.1.4). */
  readonly hasSingleKeys: Signal<boolean>
  /** Incremented when the effective theme changes. */
  readonly themeVersion = signal(0)

  constructor() {
    const storedTheme = localStorage.getItem('causeway.theme')
    this.theme = signal(themes.find((theme) => theme === storedTheme) ?? 'system')
    this.hasSingleKeys = signal(localStorage.getItem('causeway.single-keys') !== 'off')
    this.#apply()
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.themeVersion.value++
    })
  }

  cycleTheme(): void {
    this.theme.value = themes[(themes.indexOf(this.theme.value) + 1) % themes.length] ?? 'system'
    localStorage.setItem('causeway.theme', this.theme.value)
    this.#apply()
  }

  setSingleKeys(isOn: boolean): void {
    this.hasSingleKeys.value = isOn
    localStorage.setItem('causeway.single-keys', isOn ? 'on' : 'off')
  }

  #apply(): void {
    const { dataset } = document.documentElement
    if (this.theme.value === 'system') delete dataset.theme
    else dataset.theme = this.theme.value
    this.themeVersion.value++
  }
}
