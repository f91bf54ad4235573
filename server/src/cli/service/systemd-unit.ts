import type { Service } from './service.ts'

/** See systemd.unit(5), systemd.service(5), systemd.exec(5). */
export function formatSystemdUnit(service: Service): string {
  const { cwd, environment, environmentFile, shutdownMs } = service
  const command = service.command.map(quote).join(' ')
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
