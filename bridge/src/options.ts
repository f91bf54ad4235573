/** One thing that can be set: the flag, the variable that stands in for it, and what a person reads about it. */
export interface Option {
  /** The heading of `--help` under which it stands. */
  readonly group: string
  readonly short?: string
  /** What the flag is followed by, as shown: `<url>`; a flag without it is a switch. */
  readonly value?: string
  /** The flag may be given several times. */
  readonly isMany?: true
  /** The environment variable that is read where the flag is not given; a switch is on for `true` and `1`. */
  readonly env?: string
  /** Meaning, default included; a line break starts a new line. */
  readonly about: string
}

const credentials = 'Credentials (never logged; arguments can be seen by other users, files cannot)'

const away = 'When the server is away'

/** Every flag of the bridge by its name, in the order of `--help`. Settings, help text and suggestions come from here. */
export const options = {
  url: {
    group: 'The server',
    value: '<url>',
    env: 'MCP_SERVER_URL',
    about: `http, https, or a Unix socket as unix:/path/to.sock:/mcp
(default http://localhost:3100/mcp)`,
  },
  app: {
    group: 'The server',
    value: '<name>',
    env: 'CAUSEWAY_APP',
    about: `connect to one app, under its own bare tool names: --app replay
posts to /mcp/replay`,
  },

  header: {
    group: credentials,
    value: '<field>',
    isMany: true,
    about: "an HTTP header for every request: 'X-Team: physics'; repeatable",
  },
  'header-file': {
    group: credentials,
    value: '<file>',
    env: 'CAUSEWAY_HEADER_FILE',
    about: 'the same from a file, one per line; # begins a comment',
  },
  'token-file': {
    group: credentials,
    value: '<file>',
    env: 'CAUSEWAY_TOKEN_FILE',
    about: `sent as bearer token; read again when it changes. Both files must be
readable by you alone (chmod 600)`,
  },

  proxy: {
    group: 'Connection',
    value: '<url>',
    env: 'CAUSEWAY_PROXY',
    about: `go through an HTTP proxy; "env" takes HTTPS_PROXY, HTTP_PROXY and
NO_PROXY (default: no proxy, whatever the environment says)`,
  },
  ca: {
    group: 'Connection',
    value: '<file>',
    env: 'CAUSEWAY_CA_FILE',
    about: 'trust the certificates in this PEM file as well',
  },
  insecure: {
    group: 'Connection',
    about: 'accept any certificate; for a test at your own desk only',
  },

  only: {
    group: 'What the client sees',
    value: '<glob>',
    isMany: true,
    env: 'CAUSEWAY_ONLY',
    about: `list and allow only these tools: 'Replay__get_*'; repeatable, or
several divided by commas`,
  },
  ignore: {
    group: 'What the client sees',
    value: '<glob>',
    isMany: true,
    env: 'CAUSEWAY_IGNORE',
    about: 'hide and refuse these tools; wins over --only',
  },
  'offline-list': {
    group: 'What the client sees',
    env: 'CAUSEWAY_OFFLINE_LIST',
    about: `while the server is away, answer the handshake and the lists as they
were last time, marked stale; the client is told when it is back`,
  },
  'max-line': {
    group: 'What the client sees',
    value: '<bytes>',
    env: 'CAUSEWAY_MAX_LINE_BYTES',
    about: `longest line written to the client; a longer answer is replaced by an
error that says so, because many clients drop it silently
(default 10420224; 0: no limit)`,
  },
  drain: {
    group: 'What the client sees',
    value: '<ms>',
    env: 'CAUSEWAY_DRAIN_MS',
    about: 'how long answers in flight are waited for when the client ends\n(default 5000)',
  },

  wait: {
    group: away,
    value: '<ms>',
    env: 'CAUSEWAY_WAIT_MS',
    about: `how long a call waits for a server that is away, before it is answered
with an error (default 20000)`,
  },
  autostart: {
    group: away,
    env: 'CAUSEWAY_AUTOSTART',
    about: `start the server where none runs; it goes on when the bridge ends. Of many
bridges one starts it, with this working directory as CAUSEWAY_ROOTS`,
  },
  'server-command': {
    group: away,
    value: '<command>',
    env: 'CAUSEWAY_SERVER_COMMAND',
    about: 'what --autostart runs (default: the server of this checkout or package)',
  },

  doctor: {
    group: 'Finding faults',
    about: `check everything between here and the server, say what to do, and
print the lines that connect a client; exit 1 if something is wrong`,
  },
  stats: {
    group: 'Finding faults',
    env: 'CAUSEWAY_STATS',
    about: 'print figures to standard error at the end; SIGUSR2 prints them at any time',
  },
  record: {
    group: 'Finding faults',
    value: '<file>',
    env: 'CAUSEWAY_RECORD',
    about: `append all traffic to a file, one JSON text per line; secrets in headers
are left out, those in tool arguments and answers are not`,
  },
  replay: {
    group: 'Finding faults',
    value: '<file>',
    about: 'answer the client from such a file, without a server',
  },

  help: { group: 'Other', short: 'h', about: 'this text' },
  version: { group: 'Other', short: 'v', about: 'the version' },
} as const satisfies Readonly<Record<string, Option>>

/** The name of a flag, without its dashes. */
export type OptionName = keyof typeof options
