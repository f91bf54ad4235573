import type { Requirements } from '../requirement.ts'

/** Hosted MCP servers: configuration, commands and logins. */
export const gateway = {
  'gateway:config': {
    origin: 'gateway design, configuration',
    behaviour: 'mcp.json has the entries of other clients and one additional key with documented defaults',
  },
  'gateway:config:contained': {
    origin: 'gateway design, configuration',
    behaviour:
      'an invalid entry or an unset variable disables this server alone, and no message contains a value',
  },
  'gateway:config:share': {
    origin: 'gateway design, sharing',
    behaviour:
      'a server without a sharing mode gets a safe one: by its package, project for stdio, shared for URLs',
  },
  'gateway:config:environment': {
    origin: 'gateway design, security',
    behaviour:
      'a process receives six variables of the server, its own variables and the PATH of its entry, and no other',
  },
  'gateway:config:edit': {
    origin: 'gateway design, configuration',
    behaviour:
      'an edit of mcp.json is atomic, keeps unknown keys, comments and other entries, and is rejected if invalid',
  },
  'gateway:config:secrets': {
    origin: 'gateway design, security',
    behaviour:
      'secrets are in a file that only its owner can read; a readable file is rejected without quoting it',
  },
  'gateway:config:watch': {
    origin: 'gateway design, configuration',
    behaviour:
      'a change of mcp.json or secrets.json takes effect while the server runs; a broken file keeps the last valid one',
  },
  'gateway:redact': {
    origin: 'gateway design, security',
    behaviour: 'a description of a server contains no secret flag, header, token, URL query or URL password',
  },
  'gateway:errors': {
    origin: 'gateway design, multiplexing',
    behaviour:
      'a JSON-RPC error of a hosted server reaches clients with its number, message and data, unless it is about the connection to the server',
  },
  'gateway:app': {
    origin: 'gateway design, names',
    behaviour:
      'a hosted server is an app: prefixed names on /mcp, its own names on its path, and content passed on unchanged',
  },
  'gateway:catalogue': {
    origin: 'gateway design, lifecycle',
    behaviour:
      'lists come from a stored catalogue: after a restart they are the same, and no process is started for them',
  },
  'gateway:real': {
    origin: 'gateway design, test subjects',
    behaviour:
      'servers of other makers work through /mcp, their own path, views and the bridge, for clients of both eras',
  },
  'gateway:multiplexing': {
    origin: 'gateway design, multiplexing',
    behaviour:
      'of 10,000 calls of ten clients with equal ids and progress tokens, while two answer questions, nothing reaches another client',
  },
  'gateway:misbehaviour': {
    origin: 'gateway design, lifecycle',
    behaviour:
      'a server that misbehaves fails its own calls with a coded error; other servers are not affected',
  },
  'gateway:cancel': {
    origin: 'gateway design, multiplexing',
    behaviour: 'a cancelled call is cancelled at the server, and a late answer is dropped',
  },
  'gateway:pins': {
    origin: 'gateway design, security',
    behaviour:
      'a changed tool stays listed with its approved text and answers TOOL_CHANGED until it is approved, also if its entry was absent or invalid meanwhile; a new one is not listed',
  },
  'gateway:reap': {
    origin: 'gateway design, lifecycle',
    behaviour: 'processes of a server that was killed are ended by the next one, with their children',
  },
  'gateway:update': {
    origin: 'gateway design, configuration',
    behaviour: 'a change of mcp.json adds, replaces and removes apps; servers without a change keep running',
  },
  'gateway:commands': {
    origin: 'gateway design, commands',
    behaviour:
      'mcp add starts a server once and stores secrets apart; tools, logs, restart and approve control the running one',
  },
  'gateway:connect': {
    origin: 'gateway design, commands',
    behaviour:
      'connect adds Causeway to the configuration of eight clients, and changes no other byte of a file with comments or other servers',
  },
  'gateway:connect:undo': {
    origin: 'gateway design, commands',
    behaviour:
      'connect --undo restores the bytes of the file, or reverts only its entry if another program has changed the file since',
  },
  'gateway:connect:refused': {
    origin: 'gateway design, commands',
    behaviour: 'connect rejects a file that it cannot change safely, and leaves it unchanged',
  },
  'gateway:import': {
    origin: 'gateway design, commands',
    behaviour:
      'mcp import copies the servers of eight clients, never writes their files, moves literal secrets to secrets.json, replaces mcp-remote by the URL, skips Causeway itself, and requires approval',
  },
  'gateway:list': {
    origin: 'gateway design, commands',
    behaviour: 'mcp list and show describe every server and every invalid entry, without secrets',
  },
  'gateway:clients': {
    origin: 'gateway design, acceptance',
    behaviour:
      'ten SDK clients of both eras use one hosted server at once; each receives its own results, progress and questions',
  },
  'gateway:subscriptions': {
    origin: 'gateway design, multiplexing',
    behaviour:
      'a resource is subscribed to once for all clients, again after a crash, and unsubscribed after the last client',
  },
  'gateway:log-level': {
    origin: 'gateway design, multiplexing',
    behaviour:
      'a server sends debug messages once a client requests them, and each client receives its own level',
  },
  'gateway:idle': {
    origin: 'gateway design, lifecycle',
    behaviour: 'a process without calls ends after its idle timeout, but not during a call or a subscription',
  },
  'gateway:backoff': {
    origin: 'gateway design, lifecycle',
    behaviour:
      'a server that crashed starts again at once, then with growing delays; after five failures it is down until a restart or one attempt per five minutes',
  },
  'gateway:tasks': {
    origin: 'gateway design, multiplexing',
    behaviour:
      'a tool that its server only runs as a task works for every client: it reports its status as progress, and cancellation cancels the task',
  },
  'gateway:warnings': {
    origin: 'gateway design, security',
    behaviour:
      'packages without an exact version, hidden characters in definitions and names of tools of other apps are reported before a server is used, and in its status',
  },
  'gateway:logs': {
    origin: 'gateway design, commands',
    behaviour:
      'mcp logs prints the output of all processes of a server, also of those that ended, without control characters; -f prints new lines',
  },
  'gateway:change': {
    origin: 'gateway design, commands',
    behaviour:
      'mcp enable, disable and remove change one entry, and remove only secrets that no other entry uses',
  },
  'gateway:login': {
    origin: 'gateway design, OAuth',
    behaviour:
      'a person logs in at a remote server through a browser or with a copied URL; tokens stay in a private file',
  },
  'gateway:login:response': {
    origin: 'gateway design, OAuth',
    behaviour:
      'a response completes one login, once, within 10 minutes, with its state and from its authorization server',
  },
  'gateway:login:metadata': {
    origin: 'gateway design, OAuth',
    behaviour:
      'metadata of another issuer or resource, insecure or unreachable endpoints, and oversized documents are rejected',
  },
  'gateway:login:refresh': {
    origin: 'gateway design, OAuth',
    behaviour:
      'concurrent calls with an expired token cause one refresh, also between processes; a refused refresh requires a login',
  },
  'gateway:login:needed': {
    origin: 'gateway design, OAuth',
    behaviour:
      'a server that requires a login is shown as such and not asked again; other servers are not affected',
  },
  'gateway:login:asked': {
    origin: 'gateway design, OAuth',
    behaviour:
      'a call, resource or prompt that needs a login asks a client that can open pages to log in, and continues after it, within five minutes; other clients and callers with tokens receive the command',
  },
  'gateway:login:scope': {
    origin: 'gateway design, OAuth',
    behaviour: 'a call that needs another scope fails alone, and the next login requests the scope',
  },
  'gateway:logout': {
    origin: 'gateway design, OAuth',
    behaviour: 'a logout revokes the tokens where the server supports it, and deletes the login',
  },
} as const satisfies Requirements
