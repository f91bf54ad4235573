import type { Requirements } from '../requirement.ts'

/** Starting, configuring, watching and stopping the server. */
export const server = {
  'server:start:fresh-clone': {
    origin: 'design, seen by a new user',
    behaviour: 'the started server is healthy and lists the example recordings',
  },
  'server:start:disabled': {
    origin: 'original MCP integration, configuration',
    behaviour: 'MCP_SERVER_ENABLED=false prints one line and exits 0',
  },
  'server:start:port-in-use': {
    origin: 'design, settings',
    behaviour: 'a port in use is an error that names the holder, exit 1',
  },
  'server:start:old-node': {
    origin: 'design, versions',
    behaviour: 'under an old Node the installed command says one sentence and exits 1, without a crash',
  },
  'server:settings:order': {
    origin: 'design, settings',
    behaviour: 'flag beats environment beats env file beats causeway.config.json beats default',
  },
  'server:settings:unknown': {
    origin: 'design, settings',
    behaviour: 'an unknown setting is refused with a suggestion',
  },
  'server:settings:env-file': {
    origin: 'original MCP integration, configuration',
    behaviour: 'a file of KEY=value lines, with comments, is read by --env-file',
  },
  'server:settings:origins': {
    origin: 'threat model, MCP clients in a browser',
    behaviour: 'CAUSEWAY_ALLOWED_ORIGINS takes exact origins only, and no wildcard',
  },
  'server:settings:bad-value': {
    origin: 'design, settings',
    behaviour: 'a setting of the wrong form is refused with its name and what is expected',
  },
  'server:health': {
    origin: 'original MCP integration, common issues',
    behaviour: 'GET /health tells readiness, version, data folder, limits, and the health of each app',
  },
  'server:metrics': {
    origin: 'design, seen from outside',
    behaviour: 'GET /metrics counts calls and shows latency histograms in the Prometheus format',
  },
  'server:log:extra': {
    origin: 'original MCP integration, debugging tips',
    behaviour: 'EXTRA_LOGGING=true adds protocol detail with the [MCP] prefix, with secrets redacted',
  },
  'server:shutdown:drain': {
    origin: 'design, the wire: eras',
    behaviour: 'a signal lets running calls finish, closes open streams and exits 0 under a deadline',
  },
  'server:shutdown:twice': {
    origin: 'design, the wire: eras',
    behaviour: 'a repeat within 250 ms of the first signal is ignored; a later one exits at once',
  },
  'server:shutdown:parent': {
    origin: 'design, one command does all set-up',
    behaviour: 'a server started with an IPC channel stops when its parent disappears',
  },
  'server:shutdown:npx': {
    origin: 'server operations, packaging',
    behaviour: 'a server started by npx stops when npx is stopped, though npm passes no signal on',
  },
  'server:data:private': {
    origin: 'design, safe by default',
    behaviour: 'nothing in the data folder can be read or written by other users, whatever the umask',
  },
  'server:data:newer-schema': {
    origin: 'design, data',
    behaviour: 'a data file of a newer schema is refused with a clear error and not touched',
  },
  'server:own-tools': {
    origin: 'style, nine rules',
    behaviour: "the server's own tools are an app like the others",
  },
} as const satisfies Requirements
