/** A user's project: a git repository with unfinished work and hostile configuration. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

export function git(folder: string, ...args: readonly string[]): string {
  const identity = [
    '-c',
    'user.name=User',
    '-c',
    'user.email=user@localhost',
    '-c',
    'init.defaultBranch=main',
  ]
  return execFileSync('git', [...identity, ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  })
}

/**
 * Fills a folder: commits, a stash, staged, unstaged, untracked and ignored work, filters and a hostile fsmonitor.
 */
export function userProject(root: string): { readonly trap: string } {
  const trap = `${root}-trap`
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  put('.gitignore', 'build/\n*.log\n')
  put('.gitattributes', '* text=auto eol=lf\n*.id ident\n')
  put('src/app.py', 'def one():\r\n    return 1\r\n')
  put('src/keep.id', '$Id$\n')
  put('tool.sh', '#!/bin/sh\necho tool\n')
  chmodSync(join(root, 'tool.sh'), 0o751)
  put(
    'data.bin',
    Uint8Array.from({ length: 2000 }, (_, index) => index % 256),
  )
  git(root, 'init', '-q')
  git(root, 'add', '-A')
  git(root, 'commit', '-qm', 'first')
  put('tool.sh', '#!/bin/sh\necho stashed\n')
  git(root, 'stash', '-q')
  put('staged.txt', 'staged\n')
  git(root, 'add', 'staged.txt')
  put('staged.txt', 'staged, and edited\n')
  put('untracked.txt', 'untracked\n')
  put('build/out.bin', 'built\n')
  put('notes.log', 'ignored\n')
  put('empty.txt', '')
  put('fsmonitor.sh', `#!/bin/sh\ntouch ${trap}\n`)
  chmodSync(join(root, 'fsmonitor.sh'), 0o755)
  git(root, 'config', 'core.fsmonitor', join(root, 'fsmonitor.sh'))
  return { trap }
}

/** Returns the mode, modification time and hash of each file in a folder, by path. */
export function fingerprint(root: string, { times = true } = {}): Map<string, string> {
  const found = new Map<string, string>()
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const absolute = join(entry.parentPath, entry.name)
    const stats = lstatSync(absolute)
    if (stats.isDirectory()) continue
    const content = stats.isSymbolicLink() ? readlinkSync(absolute) : readFileSync(absolute)
    const hash = createHash('sha256').update(content).digest('hex')
    const time = times ? stats.mtimeMs : 0
    found.set(absolute.slice(root.length + 1), `${(stats.mode & 0o7777).toString(8)} ${time} ${hash}`)
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function changedPaths(before: Map<string, string>, after: Map<string, string>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path) !== after.get(path))
    .sort()
}
