/** What confines a command beyond its process group: limits of the system always, bubblewrap where a session wants it. */

/** How much a session or the server wants: `auto` is bubblewrap where it works. */
export type SandboxWish = 'none' | 'auto' | 'bwrap'

/** The stricter of two wishes. */
export function stricter(a: SandboxWish, b: SandboxWish): SandboxWish {
  const order: readonly SandboxWish[] = ['none', 'auto', 'bwrap']
  return order.indexOf(a) > order.indexOf(b) ? a : b
}

/** The folders of a confined command, absolute and real. */
export interface SandboxFolders {
  /** where it runs, and may write */
  readonly cwd: string
  /** the user's project, to which links in a work copy lead */
  readonly repo: string
  /** what else it may write: the folder of its report */
  readonly writable: readonly string[]
  /** the server's data, which it does not see */
  readonly hidden: string
}

/**
 * The command line of bubblewrap before the command: the system read-only, an empty `/tmp`, no network, no processes but
 * its own, and nothing of the server's data.
 */
export const bwrapArguments = ({ cwd, repo, writable, hidden }: SandboxFolders): readonly string[] => [
  ...['bwrap', '--die-with-parent', '--unshare-net', '--unshare-pid', '--unshare-ipc'],
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', hidden],
  ...['--ro-bind', repo, repo],
  ...[cwd, ...writable].flatMap((folder) => ['--bind', folder, folder]),
  ...['--setenv', 'TMPDIR', '/tmp', '--chdir', cwd, '--'],
]

/** Largest file that a command may write, in blocks of 512 bytes: 4 GiB. */
const fileBlocks = 8_388_608

/**
 * Shell that sets the limits of all that follows: no core files, no file over 4 GiB, and processor time for each process
 * that its limit cannot be outlived by. A limit that is lower already stays.
 */
export const limits = (timeoutS: number, processors: number): string =>
  [`-c 0`, `-f ${fileBlocks}`, `-t ${Math.ceil(timeoutS) * processors + 10}`]
    .map((limit) => `ulimit ${limit} 2>/dev/null; `)
    .join('')

/** What confines the commands of a session, in words. */
export const isolationOf = ({
  isolate,
  sandbox,
}: {
  readonly isolate: boolean
  readonly sandbox: 'none' | 'bwrap'
}): readonly string[] => [
  ...(isolate ? ['work copy'] : []),
  'process group',
  'limits',
  ...(sandbox === 'bwrap' ? ['bwrap'] : []),
]
