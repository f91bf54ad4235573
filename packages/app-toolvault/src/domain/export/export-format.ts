import { parseTime } from '@causeway/app-kit/time'
import { type Feature, getLabel, listParts, type Position } from '@causeway/plot'

interface OmittedFeature {
  readonly feature: string
  readonly reason: string
}

/** `write` returns the reason if the format cannot represent a feature. */
export interface ExportFormat {
  readonly head: string
  readonly tail: string
  write(feature: Feature): { readonly text: string } | { readonly reason: string }
}

export function exportFeatures(features: readonly Feature[], { head, tail, write }: ExportFormat) {
  const parts: string[] = []
  const left_out: OmittedFeature[] = []
  for (const feature of features) {
    const written = write(feature)
    if ('text' in written) parts.push(written.text)
    else left_out.push({ feature: getLabel(feature), reason: written.reason })
  }
  return { text: head + parts.join('') + tail, left_out }
}

export interface Vertex {
  readonly position: Position
  /** Unix milliseconds. */
  readonly time: number | undefined
  readonly speed_kn: number | null
  readonly course_deg: number | null
}

export function listVertexParts(feature: Feature): readonly (readonly Vertex[])[] {
  const { properties } = feature
  let index = 0
  return listParts(feature.geometry).map((part) =>
    part.map((position): Vertex => {
      const at = index++
      return {
        position,
        time: parseTime(readItem(properties.timestamps, at) ?? properties.time),
        speed_kn: readNumber(properties.speeds, at),
        course_deg: readNumber(properties.courses, at),
      }
    }),
  )
}

const readItem = (list: unknown, index: number): unknown => (Array.isArray(list) ? list[index] : undefined)

function readNumber(list: unknown, index: number): number | null {
  const value = readItem(list, index)
  return typeof value === 'number' ? value : null
}

/** Also removes characters that XML does not allow. */
export const escapeXml = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 does not allow them
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
