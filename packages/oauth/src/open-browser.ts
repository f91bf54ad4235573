import { spawn } from 'node:child_process'

/** Returns the command that opens a URL. No shell interprets the URL. */
export function browserCommand(
  url: URL,
  platform: NodeJS.Platform = process.platform,
): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open', url.href]
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url.href]
  return ['xdg-open', url.href]
}

/** Resolves to `false` if the program cannot be started. */
export function openBrowser(url: URL): Promise<boolean> {
  const [program, ...args] = browserCommand(url)
  return new Promise((resolve) => {
    const child = spawn(program, args, { detached: true, stdio: 'ignore' })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
