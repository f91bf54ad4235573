import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root folder of this checkout. */
export const repository = resolve(dirname(fileURLToPath(import.meta.url)), '..')

/** Every file that belongs to a checkout: tracked, or new and not ignored; relative paths, sorted, deleted ones left out. */
export function files(root: string): string[] {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  return [...new Set(list.split('\0'))].filter((file) => file !== '' && existsSync(`${root}/${file}`)).sort()
}

/** The test files of every package and of the repository itself. */
export function testFiles(root: string): string[] {
  return files(root).filter((file) => file.endsWith('.test.ts'))
}
