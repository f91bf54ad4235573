import { execFileSync } from 'node:child_process'
import { cpus, loadavg, totalmem } from 'node:os'
import { nodes } from './program.ts'

/** Returns the machine, date and commit of a run as lines of text. */
export function machine(root: string): string[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== ''
  return [
    `commit ${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with changes' : ''}, ${new Date().toISOString()}`,
    `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    `${process.platform} ${process.arch}, Node ${[...nodes().keys()].join(' and ')}`,
  ]
}

/** Returns the load of the machine as a line of text. A run itself adds about 2 by its end. */
export function load(when: string): string {
  const [minute = 0, five = 0] = loadavg()
  const figures = `load ${when}: ${minute.toFixed(1)} over one minute, ${five.toFixed(1)} over five`
  const isBusy = Math.max(minute, five) > cpus().length
  return isBusy ? `${figures}; busy with other work, so times are too long and ratios rough` : figures
}
