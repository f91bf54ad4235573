/** Parses the part of an address after `#`: `frame=45&body=1`. */
export const parseHash = (hash: string): ReadonlyMap<string, string> =>
  new Map(new URLSearchParams(hash.replace(/^#/, '')))

/** Changes entries of the part of an address after `#`. `undefined` removes an entry. */
export function formatHash(current: string, entries: Readonly<Record<string, string | undefined>>): string {
  const parts = new Map(parseHash(current))
  for (const [name, value] of Object.entries(entries))
    if (value === undefined) parts.delete(name)
    else parts.set(name, value)
  return [...parts].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
}

export interface FrameLink {
  readonly frame: number | undefined
  readonly body: number | undefined
  readonly pair: readonly [number, number] | undefined
}

/** Parses `#frame=45&body=1` or `#frame=45&pair=1-2`. Ignores malformed parts. */
export function parseFrameLink(hash: string): FrameLink {
  const entries = parseHash(hash)
  const [, a, b] = /^(\d+)-(\d+)$/.exec(entries.get('pair') ?? '') ?? []
  return {
    frame: toId(entries.get('frame')),
    body: toId(entries.get('body')?.split(',')[0]),
    pair: a === undefined || b === undefined ? undefined : [Number(a), Number(b)],
  }
}

const toId = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
