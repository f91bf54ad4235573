import { signal } from '@preact/signals'
import type { Preferences } from '../data/preferences.ts'

/** A key, a sequence such as `g r`, or a combination such as `Control+Enter`, with its action. */
export interface Shortcut {
  readonly keys: string
  readonly label: string
  readonly run: () => void
}

const sequenceMs = 1000

export class Shortcuts {
  /** Groups of shortcuts, the newest first. */
  readonly groups = signal<readonly (readonly Shortcut[])[]>([])
  readonly #preferences: Preferences
  #prefix = ''
  #prefixAt = 0

  constructor(preferences: Preferences) {
    this.#preferences = preferences
    document.addEventListener('keydown', (event) => this.#handle(event))
  }

  add(group: readonly Shortcut[]): () => void {
    this.groups.value = [group, ...this.groups.value]
    return () => {
      this.groups.value = this.groups.value.filter((otherGroup) => otherGroup !== group)
    }
  }

  #handle(event: KeyboardEvent): void {
    if (event.defaultPrevented || document.querySelector('dialog[open]') !== null) return
    const key = toKeyName(event)
    const hasNoModifier = !key.includes('+')
    if (/^(Space|Enter)$/.test(key) && isActivated(event.target)) return
    if (hasNoModifier && (isTyping(event.target) || !this.#preferences.hasSingleKeys.value)) return
    const sequence =
      event.timeStamp - this.#prefixAt < sequenceMs && this.#prefix !== '' ? `${this.#prefix} ${key}` : key
    const shortcuts = this.groups.value.flat()
    const shortcut =
      shortcuts.find(({ keys }) => keys === sequence) ?? shortcuts.find(({ keys }) => keys === key)
    const isPrefix = shortcuts.some(({ keys }) => keys.startsWith(`${key} `))
    // A key that has its own shortcut can also begin a sequence.
    this.#prefix = isPrefix && !shortcut?.keys.includes(' ') ? key : ''
    this.#prefixAt = event.timeStamp
    if (shortcut === undefined) return
    event.preventDefault()
    shortcut.run()
  }
}

function toKeyName({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): string {
  const isNamed = key.length > 1
  const modifiers = [
    ...(ctrlKey || metaKey ? ['Control'] : []),
    ...(altKey ? ['Alt'] : []),
    ...(shiftKey && isNamed ? ['Shift'] : []),
  ]
  return [...modifiers, key === ' ' ? 'Space' : key].join('+')
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && target.type === 'range')

/** Whether the element handles Space and Enter itself. */
const isActivated = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && /^(BUTTON|A|SUMMARY)$/.test(target.tagName)
