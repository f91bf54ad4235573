import { readdirSync, readFileSync } from 'node:fs'

/** Processes of trees, and their proportional memory in bytes: shared pages are divided among the processes that map them. */
export interface TreeSize {
  readonly processes: number
  readonly bytes: number
}

/** Measures the trees of these processes; without any, the children of this process. Works on Linux alone. */
export function measureTrees(pids: readonly number[]): TreeSize {
  const parents = readParents()
  const roots =
    pids.length > 0 ? pids : [...parents].flatMap(([pid, parent]) => (parent === process.pid ? [pid] : []))
  const found = new Set(roots)
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.add(child)
  const sizes = [...found].map(readProportionalBytes)
  return {
    processes: sizes.filter((bytes) => bytes > 0).length,
    bytes: sizes.reduce((sum, one) => sum + one, 0),
  }
}

/** Parents by pid. proc(5): after the name, the second field is the parent. */
function readParents(): ReadonlyMap<number, number> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return new Map(
    pids.flatMap((pid) => {
      const stat = read(`/proc/${pid}/stat`)
      return stat === undefined
        ? []
        : [[Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])]]
    }),
  )
}

const readProportionalBytes = (pid: number): number =>
  Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? '')?.[1] ?? 0) * 1024

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended.
    return undefined
  }
}
