/** `auto` uses bubblewrap if it works. */
export type SandboxLevel = 'none' | 'auto' | 'bwrap'

const levels: readonly SandboxLevel[] = ['none', 'auto', 'bwrap']

export const chooseStricter = (a: SandboxLevel, b: SandboxLevel): SandboxLevel =>
  levels.indexOf(a) > levels.indexOf(b) ? a : b

/** Absolute real paths. */
export interface SandboxFolders {
  readonly cwd: string
  /** The user's project. Links in a work copy point to it. */
  readonly repo: string
  readonly writable: readonly string[]
  /** The server's data, which commands cannot see. */
  readonly hidden: string
}

/**
 * Returns the bubblewrap command line: read-only system, empty `/tmp`, no network, no other processes, and hidden
 * server data.
 */
export const createBwrapArguments = ({ cwd, repo, writable, hidden }: SandboxFolders): readonly string[] => [
  ...['bwrap', '--die-with-parent', '--unshare-net', '--unshare-pid', '--unshare-ipc'],
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', hidden],
  ...['--ro-bind', repo, repo],
  ...[cwd, ...writable].flatMap((folder) => ['--bind', folder, folder]),
  ...['--setenv', 'TMPDIR', '/tmp', '--chdir', cwd, '--'],
]

/** 4 GiB in blocks of 512 bytes. */
const maxFileBlocks = 8_388_608

/**
 * Returns shell code that limits later commands: no core files, no file over 4 GiB, and as much CPU time per process
 * as all processors provide within the timeout. Lower existing limits remain.
 */
export const createLimitCommands = (timeoutS: number, processors: number): string =>
  [`-c 0`, `-f ${maxFileBlocks}`, `-t ${Math.ceil(timeoutS) * processors + 10}`]
    .map((limit) => `ulimit ${limit} 2>/dev/null; `)
    .join('')

export const listIsolation = ({
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
