import type { ViewedCall } from '@causeway/app-kit'

/** Ids do not contain slashes or halves of surrogate pairs, which `encodeURIComponent` rejects. */
const notInId = /[/\p{Surrogate}]/u

export function findViewerPage({ args, data }: ViewedCall): string | undefined {
  const recording = data.recording ?? args.recording
  if (typeof recording !== 'string' || notInId.test(recording)) return undefined
  const places = [
    ['frame', findFrame(args, data)],
    ['pair', findPair(args, data)],
    ['body', toId(args.body_id)],
  ] as const
  const hash = places.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])).join('&')
  return `/replay/${encodeURIComponent(recording)}${hash === '' ? '' : `#${hash}`}`
}

type Members = ViewedCall['data']

const toId = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined

const findFrame = (args: Members, data: Members): number | undefined =>
  [args.frame_id, args.mark_frame, data.frame_id, findFirst(data.findings)?.frames?.peak, args.start_frame]
    .map(toId)
    .find((frame) => frame !== undefined)

function findPair(args: Members, data: Members): string | undefined {
  const { pair = [] } = findFirst(data.findings) ?? {}
  const violation = findFirst(data.violations)
  const pairs = [[args.body_a_id, args.body_b_id], pair ?? [], [violation?.body_a_id, violation?.body_b_id]]
  const ids = pairs.map((ids) => ids.map(toId)).find(([a, b]) => a !== undefined && b !== undefined)
  return ids?.slice(0, 2).join('-')
}

interface Row {
  readonly frames?: { readonly peak?: unknown }
  readonly pair?: readonly unknown[] | null
  readonly body_a_id?: unknown
  readonly body_b_id?: unknown
}

const findFirst = (rows: unknown): Row | undefined => (Array.isArray(rows) ? (rows[0] as Row) : undefined)
