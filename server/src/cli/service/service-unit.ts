interface ServiceUnit {
  readonly node: string
  readonly nodeArgs: readonly string[]
  readonly program: string
  readonly args: readonly string[]
  /** Also the default root of every app. */
  readonly cwd: string
  readonly heapMb: number
  readonly environment: Readonly<Record<string, string>>
  /** Lines of KEY=value; may be missing. */
  readonly environmentFile: string
  readonly shutdownMs: number
}

/** Formats a user unit. See systemd.unit(5), systemd.service(5), systemd.exec(5). */
export function formatServiceUnit(unit: ServiceUnit): string {
  const { node, nodeArgs, program, args, cwd, heapMb, environment, environmentFile, shutdownMs } = unit
  // A larger young generation uses 20 MB more and saves no time.
  const memory = [`--max-old-space-size=${heapMb}`, '--max-semi-space-size=8']
  const command = [node, ...memory, ...nodeArgs, program, ...args].map(quote).join(' ')
  return `[Unit]
Description=Causeway, an MCP server that all clients share
Documentation=https://modelcontextprotocol.io
# Give up after five failed starts in a minute.
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=${command.replaceAll('$', '$$$$')}
ExecReload=/bin/kill -HUP $MAINPID
WorkingDirectory=${escapePercent(cwd)}
${Object.entries(environment)
  .map(([name, value]) => `Environment=${quote(`${name}=${value}`)}\n`)
  .join('')}EnvironmentFile=-${escapePercent(environmentFile)}
Restart=on-failure
RestartSec=2
KillMode=mixed
TimeoutStopSec=${Math.ceil(shutdownMs / 1000) + 10}
# Sandboxing that works without administrator rights and does not restrict the tests and tools that Trm runs.
# MemoryDenyWriteExecute is not included: V8 compiles at run time.
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

const escapePercent = (text: string): string => text.replaceAll('%', '%%')

const quote = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text)
    ? escapePercent(text)
    : `"${escapePercent(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
