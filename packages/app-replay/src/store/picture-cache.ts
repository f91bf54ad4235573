import type { Picture, Renderer } from '@causeway/picture'
import type { Content } from '@causeway/protocol'

/** Total length of the cached SVGs. */
export const maxCharacters = 32 * 1024 ** 2

export class PictureCache {
  readonly renderer: Renderer
  readonly #newId: () => string
  /** SVG texts by recording and picture id, least recently used first. */
  readonly #texts = new Map<string, string>()
  #characters = 0

  constructor(renderer: Renderer, newId: () => string) {
    this.renderer = renderer
    this.#newId = newId
  }

  add(
    recording: string,
    name: string,
    { png, svg }: Picture,
  ): { readonly uri: string; readonly content: readonly Content[] } {
    const id = this.#newId()
    this.#texts.set(`${recording} ${id}`, svg)
    this.#characters += svg.length
    for (const key of [...this.#texts.keys()].slice(0, -1))
      if (this.#characters > maxCharacters) this.#evict(key)
    const uri = `replay://recordings/${encodeURIComponent(recording)}/plots/${id}`
    return {
      uri,
      content: [
        { type: 'image', data: Buffer.from(png).toString('base64'), mimeType: 'image/png' },
        { type: 'resource_link', uri, name: `${name} as SVG`, mimeType: 'image/svg+xml' },
      ],
    }
  }

  findSvg(recording: string, id: string): string | undefined {
    const key = `${recording} ${id}`
    const svg = this.#texts.get(key)
    if (svg === undefined) return undefined
    this.#texts.delete(key)
    this.#texts.set(key, svg)
    return svg
  }

  get bytes(): number {
    return this.#characters
  }

  shrink(bytes: number): number {
    const before = this.#characters
    for (const key of [...this.#texts.keys()]) if (before - this.#characters < bytes) this.#evict(key)
    return before - this.#characters
  }

  #evict(key: string): void {
    this.#characters -= this.#texts.get(key)?.length ?? 0
    this.#texts.delete(key)
  }
}
