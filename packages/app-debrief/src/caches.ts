import type { Cache } from '@causeway/app-kit'
import type { Debrief } from './store.ts'

const mebibyte = 1024 ** 2

/** What Debrief holds in memory: plots, which their files and the data file have, events that were sent, and the drawer. */
export const debriefCaches = ({ memory, map }: Debrief): readonly Cache[] => [
  { name: 'events', costMs: 10, isInHeap: true, mostBytes: 64 * mebibyte, ...memory.events },
  { name: 'charts', costMs: 200, isInHeap: false, mostBytes: 256 * mebibyte, ...map.memory },
  { name: 'plots', costMs: 100, isInHeap: true, mostBytes: 256 * mebibyte, ...memory.plots },
  { name: 'plot_workers', costMs: 1000, isInHeap: false, mostBytes: 2048 * mebibyte, ...memory.workers },
]
