/** The text of the systemd unit that runs a server for one user. */

/** What the unit says. */
export interface ServiceUnit {
  /** Absolute path of Node. */
  readonly node: string
  readonly nodeArgs: readonly string[]
  /** Absolute path of the server's program. */
  readonly program: string
  /** What stands behind the program. */
  readonly args: readonly string[]
  /** Where it is started, which is the root of every app unless a setting says else. */
  readonly cwd: string
  readonly heapMb: number
  /** Settings by environment variable. */
  readonly environment: Readonly<Record<string, string>>
  /** Lines of KEY=value, read where the file exists: the place for secrets. */
  readonly environmentFile: string
  /** How long calls under way may take when it is stopped, ms. */
  readonly shutdownMs: number
}

/** systemd.unit(5), systemd.service(5), systemd.exec(5). */
export function serviceUnit(unit: ServiceUnit): string {
  const { node, nodeArgs, program, args, cwd, heapMb, environment, environmentFile, shutdownMs } = unit
  // The default young generation costs 20 MB of resident memory and saves no time.
  const memory = [`--max-old-space-size=${heapMb}`, '--max-semi-space-size=8']
  const command = [node, ...memory, ...nodeArgs, program, ...args].map(quoted).join(' ')
  return `[Unit]
Description=Causeway, an MCP server that all clients share
Documentation=https://modelcontextprotocol.io
# What cannot start is not tried for ever: five times in a minute.
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=${command.replaceAll('$', '$$$$')}
ExecReload=/bin/kill -HUP $MAINPID
WorkingDirectory=${escaped(cwd)}
${Object.entries(environment)
  .map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}\n`)
  .join('')}EnvironmentFile=-${escaped(environmentFile)}
Restart=on-failure
RestartSec=2
KillMode=mixed
TimeoutStopSec=${Math.ceil(shutdownMs / 1000) + 10}
# Of the sandboxing, what works without rights of an administrator, and leaves the tests and tools alone that Trm runs.
# MemoryDenyWriteExecute is not among it: V8 compiles while it runs.
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
`
}

/** A percent sign begins a specifier. */
const escaped = (text: string): string => text.replaceAll('%', '%%')

/** A word of a command line or an assignment, in quotes where it needs some. */
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text)
    ? escaped(text)
    : `"${escaped(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
