export interface Option {
  readonly short?: string
  /** Placeholder such as `<url>`. A flag without a value is a switch. */
  readonly value?: string
  readonly isMany?: true
  /** Variable that applies if the flag is missing. `true` and `1` enable a switch. */
  readonly env?: string
  readonly about: string
}

/** Options by group, in the order of `--help`. */
export const groups = {
  Server: {
    url: {
      value: '<url>',
      env: 'MCP_SERVER_URL',
      about: `URL of the server: http, https, or a Unix socket as
unix:/path/to.sock:/mcp (default: http://localhost:3100/mcp)`,
    },
    app: {
      value: '<name>',
      env: 'CAUSEWAY_APP',
      about: `connect to one app and use its bare tool names: --app replay
posts to /mcp/replay`,
    },
    view: {
      value: '<view>',
      env: 'CAUSEWAY_VIEW',
      about: `tools to list: full, core, or a profile in mcp.json (default: core for
VS Code and Windsurf, which limit tools, full for others). Every tool
stays callable`,
    },
  },
  'Credentials (never logged; arguments are visible to other users, files are not)': {
    header: {
      value: '<field>',
      isMany: true,
      about: "HTTP header of every request: 'X-Team: physics'; repeatable",
    },
    'header-file': {
      value: '<file>',
      env: 'CAUSEWAY_HEADER_FILE',
      about: 'file with such headers, one per line; # starts a comment',
    },
    'token-file': {
      value: '<file>',
      env: 'CAUSEWAY_TOKEN_FILE',
      about: `file with a bearer token; read again when it changes. Only you may have
access to both files (chmod 600)`,
    },
  },
  'Login at a server that requires OAuth': {
    login: {
      about: `log in at the server in a browser, store the tokens in auth.json in the
data folder of Causeway, and exit`,
    },
    logout: { about: 'revoke and delete the tokens, and exit' },
    'client-id': {
      value: '<id>',
      env: 'CAUSEWAY_OAUTH_CLIENT_ID',
      about: 'client that is registered there (default: the bridge registers itself)',
    },
    scope: {
      value: '<scopes>',
      env: 'CAUSEWAY_OAUTH_SCOPE',
      about: 'scopes to request, separated by spaces (default: those of the server)',
    },
    'callback-port': {
      value: '<port>',
      env: 'CAUSEWAY_OAUTH_CALLBACK_PORT',
      about: 'port that the browser returns to (default: the system chooses one)',
    },
  },
  Connection: {
    proxy: {
      value: '<url>',
      env: 'CAUSEWAY_PROXY',
      about: `URL of an HTTP proxy; "env" uses HTTPS_PROXY, HTTP_PROXY and NO_PROXY
(default: no proxy, regardless of the environment)`,
    },
    ca: {
      value: '<file>',
      env: 'CAUSEWAY_CA_FILE',
      about: 'PEM file with additional trusted certificates',
    },
    insecure: {
      about: 'disable TLS verification; for local tests only',
    },
  },
  'Messages for the client': {
    only: {
      value: '<glob>',
      isMany: true,
      env: 'CAUSEWAY_ONLY',
      about: `list and allow only matching tools: 'Replay__get_*'; repeatable, or
separated by commas`,
    },
    ignore: {
      value: '<glob>',
      isMany: true,
      env: 'CAUSEWAY_IGNORE',
      about: 'hide and reject matching tools; has precedence over --only',
    },
    'offline-list': {
      env: 'CAUSEWAY_OFFLINE_LIST',
      about: `while the server is unreachable, answer the handshake and lists with the
last results, marked as stale; notify the client when the server is back`,
    },
    'max-line': {
      value: '<bytes>',
      env: 'CAUSEWAY_MAX_LINE_BYTES',
      about: `maximum length of a line for the client. A longer response is replaced
by an error, because many clients drop it without an error
(default: 10420224; 0: no limit)`,
    },
    drain: {
      value: '<ms>',
      env: 'CAUSEWAY_DRAIN_MS',
      about: 'time to wait for calls in flight when the client exits (default: 5000)',
    },
  },
  'When the server is unreachable': {
    wait: {
      value: '<ms>',
      env: 'CAUSEWAY_WAIT_MS',
      about: `time that a call waits for an unreachable server before it fails
(default: 20000)`,
    },
    autostart: {
      env: 'CAUSEWAY_AUTOSTART',
      about: `start the server if it is not running. It keeps running after the bridge
exits. CAUSEWAY_ROOTS defaults to the working directory`,
    },
    'server-command': {
      value: '<command>',
      env: 'CAUSEWAY_SERVER_COMMAND',
      about: `command that --autostart runs (default: the server of this checkout or
package)`,
    },
  },
  Diagnostics: {
    doctor: {
      about: `check the connection to the server, suggest fixes, print how to connect
a client, and exit; the exit code is 1 if a check failed`,
    },
    stats: {
      env: 'CAUSEWAY_STATS',
      about: 'print statistics to standard error at exit; SIGUSR2 prints them immediately',
    },
    record: {
      value: '<file>',
      env: 'CAUSEWAY_RECORD',
      about: `append all traffic to a file, one JSON object per line; secrets in
headers are redacted, secrets in tool arguments and results are not`,
    },
    replay: {
      value: '<file>',
      about: 'answer the client from such a file, without a server',
    },
  },
  Other: {
    help: { short: 'h', about: 'print this help' },
    version: { short: 'v', about: 'print the version' },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Option>>>>

type Groups = typeof groups

export type OptionName = { [Group in keyof Groups]: keyof Groups[Group] }[keyof Groups]

export const options: Readonly<Record<OptionName, Option>> = Object.assign({}, ...Object.values(groups))

export const variables: readonly string[] = Object.values(options).flatMap(({ env }) => env ?? [])
