import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root folder of this checkout. */
export const repository = resolve(dirname(fileURLToPath(import.meta.url)), '..')

/** Returns the sorted relative paths of a checkout's files: tracked or new, without ignored and deleted ones. */
export function files(root: string): string[] {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  return [...new Set(list.split('\0'))].filter((file) => file !== '' && existsSync(`${root}/${file}`)).sort()
}

/** Returns the test files of all packages and of the repository. */
export function testFiles(root: string): string[] {
  return files(root).filter((file) => file.endsWith('.test.ts'))
}
