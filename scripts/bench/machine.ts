import { execFileSync } from 'node:child_process'
import { cpus, loadavg, totalmem } from 'node:os'
import { nodes } from './program.ts'

/** Where and of what a run was made, as lines of text. */
export function machine(root: string): string[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== ''
  const [load = 0] = loadavg()
  const busy =
    load > cpus().length / 2 ? ': busy with other work, so times are too long and ratios rough' : ''
  return [
    `commit ${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with changes' : ''}, ${new Date().toISOString()}`,
    `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    `${process.platform} ${process.arch}, Node ${[...nodes().keys()].join(' and ')}`,
    `load ${load.toFixed(1)} at the start${busy}`,
  ]
}
