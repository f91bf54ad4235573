import { homedir } from 'node:os'
import { dirname } from 'node:path'

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/**
 * Returns the client's folder for a server on this machine: others must not receive paths. The root and home
 * folders are not projects.
 */
export function findProject(url: URL | string, cwd: string, home = homedir()): string | undefined {
  const { hostname, protocol } = new URL(url)
  const isLocal = protocol === 'unix:' || loopback.test(hostname)
  return isLocal && cwd !== home && cwd !== dirname(cwd) ? cwd : undefined
}
