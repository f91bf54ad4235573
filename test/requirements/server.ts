import type { Requirements } from '../requirement.ts'

/** Start, configuration, monitoring and shutdown of the server. */
export const server = {
  'server:start:fresh-clone': {
    origin: 'design, seen by a new user',
    behaviour: 'the started server is healthy and lists the example recordings',
  },
  'server:start:disabled': {
    origin: 'original MCP integration, configuration',
    behaviour: 'MCP_SERVER_ENABLED=false prints one line and exits with 0',
  },
  'server:start:port-in-use': {
    origin: 'design, settings',
    behaviour: 'a port in use is an error that names the process, with exit code 1',
  },
  'server:start:twice': {
    origin: 'seen by a new user',
    behaviour:
      'a second start on the same data folder names the address of the running server and how to stop it',
  },
  'server:start:old-node': {
    origin: 'design, versions',
    behaviour:
      'with an old Node, commands without a database work; others run with another Node, or print what to do and exit with 1',
  },
  'server:settings:order': {
    origin: 'design, settings',
    behaviour:
      'flags take precedence over the environment, the env file, causeway.config.json and defaults, in this order',
  },
  'server:settings:unknown': {
    origin: 'design, settings',
    behaviour: 'an unknown setting is rejected with a suggestion',
  },
  'server:settings:env-file': {
    origin: 'original MCP integration, configuration',
    behaviour: '--env-file reads lines of KEY=value, with comments',
  },
  'server:settings:origins': {
    origin: 'threat model, MCP clients in a browser',
    behaviour: 'CAUSEWAY_ALLOWED_ORIGINS accepts only exact origins, without wildcards',
  },
  'server:settings:bad-value': {
    origin: 'design, settings',
    behaviour: 'an invalid setting is rejected with its name and the expected form',
  },
  'server:health': {
    origin: 'original MCP integration, common issues',
    behaviour: 'GET /health reports readiness, version, data folder, limits, and the health of each app',
  },
  'server:metrics': {
    origin: 'design, seen from outside',
    behaviour: 'GET /metrics exports counts and latency histograms of calls in the Prometheus format',
  },
  'server:log:extra': {
    origin: 'original MCP integration, debugging tips',
    behaviour: 'EXTRA_LOGGING=true logs protocol details with the prefix [MCP], without secrets',
  },
  'server:shutdown:drain': {
    origin: 'design, the wire: eras',
    behaviour:
      'after a signal the server finishes running calls within a deadline, closes streams and exits with 0',
  },
  'server:shutdown:twice': {
    origin: 'design, the wire: eras',
    behaviour: 'a second signal within 250 ms is ignored; a later one exits immediately',
  },
  'server:shutdown:parent': {
    origin: 'design, one command does all set-up',
    behaviour: 'a server with an IPC channel stops when its parent exits',
  },
  'server:shutdown:npx': {
    origin: 'server operations, packaging',
    behaviour: 'a server started by npx stops when npx is stopped, although npm does not forward signals',
  },
  'server:data:private': {
    origin: 'design, safe by default',
    behaviour: 'other users cannot read or write files in the data folder, regardless of the umask',
  },
  'server:data:newer-schema': {
    origin: 'design, data',
    behaviour: 'a data file with a newer schema is rejected with a clear error and not changed',
  },
  'server:own-tools': {
    origin: 'style, nine rules',
    behaviour: "the server's own tools are an app like all others",
  },
} as const satisfies Requirements
