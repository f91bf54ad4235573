const intervalMs = 1000

/** Notifies of changes at most once a second per mind. Notifies of the first change immediately. */
export class ChangeNotifier {
  readonly #notify: (mindId: string) => void
  readonly #pending = new Map<string, { readonly timer: NodeJS.Timeout; isDue: boolean }>()

  constructor(notify: (mindId: string) => void) {
    this.#notify = notify
  }

  markChanged(mindId: string): void {
    const pending = this.#pending.get(mindId)
    if (pending === undefined) this.#send(mindId)
    else pending.isDue = true
  }

  close(): void {
    for (const { timer } of this.#pending.values()) clearTimeout(timer)
    this.#pending.clear()
  }

  #send(mindId: string): void {
    this.#notify(mindId)
    const timer = setTimeout(() => {
      const isDue = this.#pending.get(mindId)?.isDue === true
      this.#pending.delete(mindId)
      if (isDue) this.#send(mindId)
    }, intervalMs)
    this.#pending.set(mindId, { timer: timer.unref(), isDue: false })
  }
}
