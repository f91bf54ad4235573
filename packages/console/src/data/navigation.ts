import { signal } from '@preact/signals'

export class Navigation {
  readonly path = signal(location.pathname)
  /** The part of the address after `#`. A new object for each navigation. */
  readonly hash = signal({ text: location.hash })

  constructor() {
    // `hashchange` follows later, when a page may have replaced the hash.
    addEventListener('popstate', () => this.#read())
    document.addEventListener('click', (event) => this.#follow(event))
  }

  open(url: string): void {
    history.pushState(null, '', url)
    this.#read()
  }

  replace(url: string): void {
    history.replaceState(null, '', url)
    this.#read()
  }

  replaceHash(hash: string): void {
    history.replaceState(history.state, '', hash === '' ? location.pathname : `#${hash}`)
  }

  #read(): void {
    this.path.value = location.pathname
    this.hash.value = { text: location.hash }
  }

  #follow(event: MouseEvent): void {
    const link = (event.target as Element | null)?.closest('a')
    if (event.defaultPrevented || event.button !== 0 || link?.href === undefined) return
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    const url = new URL(link.href)
    if (link.dataset.native !== undefined || url.origin !== location.origin || link.target !== '') return
    if (url.pathname === location.pathname && url.hash !== '') return
    event.preventDefault()
    this.open(url.href)
  }
}
