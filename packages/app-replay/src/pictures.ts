/** Pictures of recordings: drawn in a worker, their SVG kept for a while so that it can be read as a resource. */

import type { Picture, Renderer } from '@causeway/picture'
import type { Content } from '@causeway/protocol'

/** The renderer, and the latest pictures by their ids. */
export interface Pictures {
  readonly renderer: Renderer
  /** Keeps a picture; what an answer carries beside its data: the PNG, and a link to the SVG. */
  keep(
    recording: string,
    name: string,
    picture: Picture,
  ): { readonly uri: string; readonly content: readonly Content[] }
  /** SVG text of a picture that is still kept. */
  svg(recording: string, id: string): string | undefined
  /** Bytes of the SVG texts. */
  readonly bytes: number
  /** Forgets pictures until so many bytes are given back, the longest unread first; gives the bytes. */
  shrink(bytes: number): number
}

/** SVG text that is kept, characters, which are bytes: it is plain ASCII but for labels. */
export const mostCharacters = 32 * 1024 ** 2

/** Keeps the latest pictures; `newId` names them. */
export function keepPictures(renderer: Renderer, newId: () => string): Pictures {
  const kept = new Map<string, string>()
  let characters = 0
  const forget = (key: string) => {
    characters -= kept.get(key)?.length ?? 0
    kept.delete(key)
  }
  return {
    renderer,
    keep(recording, name, { png, svg }) {
      const id = newId()
      kept.set(`${recording} ${id}`, svg)
      characters += svg.length
      for (const key of [...kept.keys()].slice(0, -1)) if (characters > mostCharacters) forget(key)
      const uri = `replay://recordings/${encodeURIComponent(recording)}/plots/${id}`
      return {
        uri,
        content: [
          { type: 'image', data: Buffer.from(png).toString('base64'), mimeType: 'image/png' },
          { type: 'resource_link', uri, name: `${name} as SVG`, mimeType: 'image/svg+xml' },
        ],
      }
    },
    get bytes() {
      return characters
    },
    shrink(bytes) {
      const before = characters
      for (const key of [...kept.keys()]) if (before - characters < bytes) forget(key)
      return before - characters
    },
    svg(recording, id) {
      const key = `${recording} ${id}`
      const svg = kept.get(key)
      if (svg !== undefined) {
        kept.delete(key)
        kept.set(key, svg)
      }
      return svg
    },
  }
}
