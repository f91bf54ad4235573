import { formatClient } from '@causeway/protocol/call-filter'
import type { Diagnosis, Metadata, RecordingList } from '../../data/replay.ts'
import type { Server } from '../../data/server.ts'
import type { AppSummary, SessionList } from '../../data/types.ts'
import { formatFinding } from '../../domain/diagnosis.ts'
import { findPage } from '../../domain/find-page.ts'
import { formatHash } from '../../domain/link.ts'
import { formatCount } from '../../domain/text.ts'
import { listSessions } from '../../domain/trm.ts'
import type { PlotList } from '../debrief/plots-page.tsx'
import type { MindList } from '../minds/minds-page.tsx'
import type { Entry, FrameRange } from './search.ts'

export interface LoadedList {
  readonly entries?: readonly Omit<Entry, 'group'>[]
  readonly frames?: FrameRange
  /** Whether the server has more entries. */
  readonly isTruncated?: boolean
  readonly failure?: string
}

/** A list that the server provides. Its name is the group of its entries. */
export interface ServerList {
  readonly name: string
  readonly load: (server: Server) => Promise<LoadedList>
}

const lists: readonly ServerList[] = [
  {
    name: 'Tools',
    async load(server) {
      const { apps } = await server.get<{ apps: readonly AppSummary[] }>('/api/apps')
      const entries = apps.flatMap((app) =>
        app.tools.map(({ name, unlisted }) => ({
          title: name,
          detail: unlisted ? `${app.name} · unlisted` : app.name,
          url: `${app.href.replace('/api', '')}/${encodeURIComponent(name)}`,
        })),
      )
      return { entries }
    },
  },
  {
    name: 'Recordings',
    async load(server) {
      const list = await server.call<RecordingList>('replay', 'list_recordings', { max_points: 10_000 })
      const entries = list.recordings.map(({ recording, name }) => toEntry(recording, name, '/replay/'))
      return { entries, isTruncated: list.next_cursor !== null }
    },
  },
  {
    name: 'Plots',
    async load(server) {
      const { plots, files } = await server.call<PlotList>('debrief', 'list_plots', {})
      const names = new Set([...plots, ...files].map(({ filename }) => filename))
      return { entries: [...names].map((name) => toEntry(name, '', '/debrief/plots/')) }
    },
  },
  {
    name: 'Minds',
    async load(server) {
      const { minds, next_after } = await server.call<MindList>('minds', 'list_minds', { limit: 500 })
      const entries = minds.map(({ mind_id, entity_id }) => toEntry(mind_id, entity_id, '/minds/'))
      return { entries, isTruncated: next_after !== null }
    },
  },
  {
    name: 'TRM sessions',
    async load(server) {
      const sessions = listSessions(await server.listResources('trm'))
      return { entries: sessions.map(({ id, project }) => toEntry(id, project, '/trm/')) }
    },
  },
  {
    name: 'Client sessions',
    async load(server) {
      const { sessions } = await server.get<SessionList>('/api/apps/causeway/sessions')
      const entries = sessions.map(({ client, session, calls }) => ({
        title: formatClient(client),
        detail: `${session} · ${formatCount(calls)} calls`,
        url: `/traffic#filter=${encodeURIComponent(`session:${session}`)}`,
      }))
      return { entries }
    },
  },
]

const toEntry = (title: string, detail: string, folder: string): Omit<Entry, 'group'> => ({
  title,
  detail: detail === title ? '' : detail,
  url: `${folder}${encodeURIComponent(title)}`,
})

/** On the page of a recording, its lists come first. */
export function findLists(path: string): readonly ServerList[] {
  const { recording } = findPage([{ pattern: '/replay/:recording' }], path)?.pathParameters ?? {}
  return recording === undefined ? lists : [findings(recording), frames(recording), ...lists]
}

const findings = (recording: string): ServerList => ({
  name: 'Findings',
  async load(server) {
    const diagnosis = await server.call<Diagnosis>('replay', 'diagnose', { recording, max_findings: 200 })
    const entries = diagnosis.findings.map((finding, index) => {
      const { id, bodies, frames } = finding
      const hashEntries = {
        finding: id,
        frame: String(frames.peak),
        body: bodies[0]?.toString(),
        pair: bodies.length === 2 ? bodies.join('-') : undefined,
      }
      return { title: `Finding ${index + 1}`, detail: formatFinding(finding), url: toFrameUrl(hashEntries) }
    })
    return { entries, isTruncated: diagnosis.findings.length < diagnosis.count }
  },
})

const frames = (recording: string): ServerList => ({
  name: 'Frames',
  async load(server) {
    const { first_frame: first, last_frame: last } = await server.call<Metadata>('replay', 'get_metadata', {
      recording,
    })
    return first === null || last === null ? {} : { frames: { first, last } }
  },
})

/** Preserves other parts of the hash. */
export const toFrameUrl = (hashEntries: Readonly<Record<string, string | undefined>>): string =>
  `${location.pathname}#${formatHash(location.hash, hashEntries)}`
