import { join } from 'node:path'
import { makeRoots } from '@causeway/app-kit'
import { openForTest, type TestApp, type TestClient } from '@causeway/app-kit/testing'
import type { DebriefCommand, Feature } from '@causeway/plot'
import type { Test } from 'tap'
import { findDestination } from '../src/domain/geodesy/geodesic.ts'
import toolvault from '../src/index.ts'

export interface OpenVault {
  readonly app: TestApp
  readonly client: TestClient
  /** The only root. */
  readonly folder: string
  command(tool: string, args?: unknown): Promise<DebriefCommand>
  /** Returns the payload of the `showData` command of a tool. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read the members that they expect
  data(tool: string, args?: unknown): Promise<any>
}

/** `files` contains texts by file name. */
export async function openVault(
  t: Test,
  files: Readonly<Record<string, string>> = {},
  newId = () => 'sample',
): Promise<OpenVault> {
  const dir = t.testdir({ files })
  const folder = join(dir, 'files')
  const app = await openForTest(toolvault, {
    dir,
    roots: makeRoots(() => [folder], 'CAUSEWAY_PLOT_ROOTS'),
    newId,
  })
  t.teardown(() => app.close())
  const client = app.client()
  const command = async (tool: string, args?: unknown) =>
    (await client.call(tool, args)) as unknown as DebriefCommand
  return {
    app,
    client,
    folder,
    command,
    data: async (tool, args) => findData(await command(tool, args)),
  }
}

export function findData(command: DebriefCommand): unknown {
  return all(command).find((one) => one.command === 'showData')?.payload
}

/** Returns the features that a command adds or updates. */
export const listFeatures = (command: DebriefCommand): readonly Feature[] =>
  all(command)
    .filter((one) => one.command === 'addFeatures' || one.command === 'updateFeatures')
    .flatMap((one) => one.payload as readonly Feature[])

const all = (command: DebriefCommand): readonly DebriefCommand[] =>
  command.command === 'composite' ? (command.payload as readonly DebriefCommand[]).flatMap(all) : [command]

/** Creates a track with a fix per minute, or per `stepS`. */
export function track(
  id: string | undefined,
  coordinates: readonly (readonly number[])[],
  {
    stepS = 60,
    start = '2024-01-01T00:00:00Z',
    ...properties
  }: { stepS?: number; start?: string } & Record<string, unknown> = {},
) {
  return {
    type: 'Feature' as const,
    ...(id === undefined ? {} : { id }),
    geometry: { type: 'LineString', coordinates },
    properties: {
      dataType: 'track',
      timestamps: coordinates.map((_, index) =>
        new Date(Date.parse(start) + index * stepS * 1000).toISOString(),
      ),
      ...properties,
    },
  }
}

export const feature = (
  id: string | number | undefined,
  type: string,
  coordinates: unknown,
  properties: Readonly<Record<string, unknown>> = {},
) => ({
  type: 'Feature' as const,
  ...(id === undefined ? {} : { id }),
  geometry: { type, coordinates },
  properties,
})

export const collection = (...features: readonly unknown[]) => ({ type: 'FeatureCollection', features })

/** Two tracks whose closest approach is 209.50 m, 29.935 minutes after midnight. */
export const xa = track(
  'xa',
  Array.from({ length: 61 }, (_, i) => [-5 + 0.0034 * i, 36]),
  { name: 'XA' },
)
export const xb = track(
  'xb',
  Array.from({ length: 61 }, (_, i) => [-4.9, 35.9 + 0.0033 * i]),
  { name: 'XB' },
)

/** Creates a track with constant course and speed and a fix per minute. */
export function straight(
  id: string,
  from: readonly [lon: number, lat: number],
  {
    course,
    knots,
    fixes = 11,
    ...more
  }: { course: number; knots: number; fixes?: number } & Record<string, unknown>,
) {
  const [lon, lat] = from
  const places = Array.from({ length: fixes }, (_, minute) =>
    findDestination({ lon, lat }, course, (knots * 1852 * minute) / 60),
  )
  return track(
    id,
    places.map((place) => [place.lon, place.lat]),
    more,
  )
}

export const near = (found: number, wanted: number, tolerance: number): boolean =>
  Math.abs(found - wanted) <= tolerance
